"""Who is simulated: the typical person's head, and how people and sittings depart from it."""

from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

import mne
import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from censorium.electrodes import placed

# The Neuroscan cap of the RSVP benchmark; PO9 and PO10 stand for CB1 and CB2, which 10-05 lacks.
CAP = """
Fp1 Fpz Fp2 AF3 AF4 F7 F5 F3 F1 Fz F2 F4 F6 F8 FT7 FC5 FC3 FC1 FCz FC2 FC4 FC6 FT8
T7 C5 C3 C1 Cz C2 C4 C6 T8 TP7 CP5 CP3 CP1 CPz CP2 CP4 CP6 TP8
P7 P5 P3 P1 Pz P2 P4 P6 P8 PO7 PO5 PO3 POz PO4 PO6 PO8 O1 Oz O2 PO9 PO10
"""
CH_NAMES = tuple(CAP.split())
MASTOIDS = ("M1", "M2")  # the reference
SFREQ = 250.0
CENTRE = np.array([0.0, 13.0, 40.0])  # mm: the sphere that MNE fits to this montage
RADIUS = 97.0
DEEPEST, SHALLOWEST = 25.0, 80.0  # mm from the centre: where a source may lie

BACKGROUND = 7.5  # µV rms over the scalp, before alpha
LATEST = 0.6  # s: no response peaks later
ALPHA_BAND = (6.5, 14.0)  # Hz
Floats = NDArray[np.float64]


class Source(NamedTuple):
    """A current dipole: where it lies, where it points, how large it shows at one electrode."""

    at: tuple[float, float, float]  # mm from the centre: right, front, up
    towards: tuple[float, float, float]
    site: str
    size: float  # µV of the typical person at `site`
    peak: float = 0.0  # s after the image; 0: not evoked
    width: float = 0.0  # s, a standard deviation
    rare: bool = False  # evoked by targets only


SOURCES = (
    Source((-38, -58, 12), (-38, -58, 12), "PO7", 4.0, 0.105, 0.014),  # P1
    Source((38, -58, 12), (38, -58, 12), "PO8", 4.3, 0.105, 0.014),
    Source((-42, -52, 4), (42, 52, -4), "PO7", -4.5, 0.165, 0.018),  # N1
    Source((42, -52, 4), (-42, 52, -4), "PO8", -5.0, 0.165, 0.018),
    Source((0, 22, 58), (0, -10, -60), "FCz", -3.0, 0.230, 0.030, True),  # N2
    Source((0, -22, 38), (0, -28, 60), "Pz", 11.0, 0.380, 0.065, True),  # P300
    Source((-22, -60, 25), (-15, -60, 20), "O1", 5.5),  # alpha
    Source((22, -60, 25), (15, -60, 20), "O2", 5.5),
    Source((0, 70, -36), (0, 1, 0), "Fpz", 110.0),  # eyes
)
N_EVOKED = 6


class Spread(NamedTuple):
    """Standard deviations by which traits depart; sizes and latencies depart by a factor."""

    place: float = 0.0  # mm
    angle: float = 0.0  # rad
    latency: float = 0.0  # log
    size: float = 0.0  # log
    region: float = 0.0  # log
    slope: float = 0.0
    alpha: float = 0.0  # Hz
    blink: float = 0.0  # log
    electrode: float = 0.0  # log gain; line and sensor noise depart by five times this
    turn: float = 0.0  # rad: how the cap sits
    fade: float = 0.0  # log: change of sizes, and a quarter of it of latencies, over a sitting

    def times(self, strength: float) -> "Spread":
        """All of them, scaled."""
        return Spread(*(strength * value for value in self))


PEOPLE = Spread(7.0, 0.25, 0.07, 0.35, 0.35, 0.15, 0.9, 0.4, 0.06, 0.05, 0.0)
SITTINGS = Spread(0.0, 0.0, 0.02, 0.10, 0.12, 0.05, 0.2, 0.15, 0.06, 0.05, 0.2)


@dataclass(frozen=True)
class Traits:
    """All that is particular to one person in one sitting."""

    at: Floats  # (sources, 3)
    towards: Floats  # (sources, 3)
    size: Floats  # (sources,) of their dipole moments
    peak: Floats  # (sources,) s
    region: Floats  # (places,) amplitude of the background, by place in the brain
    slope: float  # of the background's power, which falls as 1 / f ** slope
    alpha: float  # Hz
    blink: float  # s from blink to blink
    gain: Floats  # (channels,)
    noise: Floats  # (channels,) µV rms of the sensors
    line: Floats  # (channels,) µV of the mains
    turn: Floats  # (3,) rad, the cap's rotation
    fade: Floats  # (2,) change over the sitting: log size, log latency


@cache
def typical() -> Traits:
    """The person from whom everybody departs."""
    at, towards = (np.array([getattr(s, k) for s in SOURCES], float) for k in ("at", "towards"))
    towards /= np.linalg.norm(towards, axis=1, keepdims=True)
    site = [CH_NAMES.index(s.site) for s in SOURCES]
    shown = np.einsum("cmk,mk->cm", lead_field(at), towards)[site, np.arange(len(SOURCES))]
    everywhere = np.ones(len(CH_NAMES))
    field = lead_field(grid()).reshape(len(CH_NAMES), -1)
    rms = np.sqrt((field**2).sum(axis=1).mean())
    return Traits(
        at=at,
        towards=towards,
        size=np.array([s.size for s in SOURCES]) / shown,
        peak=np.array([s.peak for s in SOURCES]),
        region=np.full(len(grid()), BACKGROUND / rms),
        slope=1.5,
        alpha=10.2,
        blink=4.0,
        gain=everywhere,
        noise=0.7 * everywhere,
        line=3.0 * everywhere,
        turn=np.zeros(3),
        fade=np.zeros(2),
    )


def depart(traits: Traits, spread: Spread, rng: np.random.Generator) -> Traits:
    """Someone who differs from `traits` at random, by `spread`."""
    normal = rng.standard_normal
    n_sources, n_channels = len(SOURCES), len(CH_NAMES)
    loose = np.ones((n_sources, 1))
    loose[-1] = 0.3  # eyes are where eyes are
    at = traits.at + loose * spread.place * normal((n_sources, 3))
    depth = np.linalg.norm(at, axis=1, keepdims=True)
    towards = traits.towards + loose * spread.angle * normal((n_sources, 3))
    # A person who is slow is so throughout; each response is then slow or quick by itself.
    latency = normal() + 0.6 * normal(n_sources)
    near = np.exp(-(((grid()[:, None] - grid()) / 40.0) ** 2).sum(axis=2))
    smooth = near / np.linalg.norm(near, axis=1, keepdims=True)
    return replace(
        traits,
        at=at * np.clip(depth, DEEPEST, SHALLOWEST) / depth,
        towards=towards / np.linalg.norm(towards, axis=1, keepdims=True),
        size=traits.size * np.exp(spread.size * normal(n_sources)),
        peak=np.minimum(traits.peak * np.exp(spread.latency * latency), LATEST),
        region=traits.region * np.exp(spread.region * (smooth @ normal(len(smooth)))),
        slope=traits.slope + spread.slope * normal(),
        alpha=float(np.clip(traits.alpha + spread.alpha * normal(), *ALPHA_BAND)),
        blink=traits.blink * np.exp(spread.blink * normal()),
        gain=traits.gain * np.exp(spread.electrode * normal(n_channels)),
        noise=traits.noise * np.exp(5 * spread.electrode * normal(n_channels)),
        line=traits.line * np.exp(5 * spread.electrode * (normal() + normal(n_channels))),
        turn=traits.turn + spread.turn * normal(3),
        fade=traits.fade + spread.fade * np.array([1.0, 0.25]) * normal(2),
    )


def scalp_maps(traits: Traits) -> tuple[Floats, Floats]:
    """µV at the electrodes of each source, and a mixing of noises that makes the background."""
    # A cap turned one way on the head sees what a head turned the other way would show.
    turn = Rotation.from_rotvec(-traits.turn)
    field = lead_field(turn.apply(np.concatenate([traits.at, grid()])))
    field *= traits.gain[:, None, None]
    n_sources = len(SOURCES)
    maps = np.einsum("cmk,mk->cm", field[:, :n_sources], turn.apply(traits.towards))
    places = (field[:, n_sources:] * traits.region[:, None]).reshape(len(field), -1)
    # Gaussian courses of one spectrum, one per dipole, add up to as many as there are electrodes.
    return np.asarray(maps * traits.size), np.asarray(np.linalg.cholesky(places @ places.T))


@cache
def grid() -> Floats:
    """Places all over the cortex, in mm from the centre, evenly spread (a Fibonacci lattice)."""
    k = np.arange(160) + 0.5
    up = 1 - 1.45 * k / len(k)
    around = np.pi * (1 + 5**0.5) * k
    flat = np.sqrt(1 - up**2)
    return 70.0 * np.column_stack([flat * np.cos(around), flat * np.sin(around), up])


@cache
def cap() -> mne.Info:
    """The electrodes, on the head."""
    return placed([*CH_NAMES, *MASTOIDS], SFREQ)


def lead_field(points: Floats) -> Floats:
    """Potential at each electrode (channels, points, 3) of unit dipoles, against the mastoids."""
    centre = 1e-3 * CENTRE
    sphere = mne.make_sphere_model(centre, 1e-3 * RADIUS, verbose="error")
    up = np.tile([0.0, 0.0, 1.0], (len(points), 1))
    spots = {"rr": centre + 1e-3 * points, "nn": up}
    space = mne.setup_volume_source_space(
        pos=spots, sphere=sphere, mindist=0.0, exclude=0.0, verbose="error"
    )
    forward = mne.make_forward_solution(
        cap(), None, space, sphere, meg=False, mindist=0.0, verbose="error"
    )
    field = forward["sol"]["data"].reshape(len(cap()["ch_names"]), len(points), 3)
    n = len(CH_NAMES)
    return np.asarray(field[:n] - field[n:].mean(axis=0))
