"""Where electrodes lie."""

import warnings

import numpy as np

from censorium.datasets.people import CH_NAMES
from censorium.electrodes import placed


def test_every_electrode_of_the_cap_has_its_place():
    """Odd names lie left, even ones right, names in z between; Fz before Pz, the crown on top."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        info = placed(CH_NAMES, 250.0)
    right, front, up = np.array([ch["loc"][:3] for ch in info["chs"]]).T
    last = np.array([name[-1] for name in CH_NAMES])
    odd = np.isin(last, list("13579"))
    middle = last == "z"
    assert (right[odd] < -0.01).all()
    assert (abs(right[middle]) < 0.005).all()
    assert (right[~odd & ~middle] > 0.01).all()
    assert front[CH_NAMES.index("Fz")] > front[CH_NAMES.index("Pz")] + 0.1
    assert CH_NAMES[up.argmax()] in ("Cz", "CPz")
    assert info["sfreq"] == 250.0
