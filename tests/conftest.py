"""What several tests start from."""

from collections.abc import Callable

import numpy as np
import pytest
import torch

from censorium.trials import Trials


def make_trials(
    *,
    n_subjects: int = 4,
    n_sessions: int = 2,
    n_per_session: int = 12,
    n_channels: int = 3,
    n_times: int = 20,
    seed: int = 0,
) -> Trials:
    """Noise of several subjects in several sessions, with a quarter of the trials of class b."""
    rng = np.random.default_rng(seed)
    n = n_subjects * n_sessions * n_per_session
    cell = np.repeat(np.arange(n_subjects * n_sessions), n_per_session)
    return Trials.from_arrays(
        rng.standard_normal((n, n_channels, n_times)),
        np.where(np.arange(n) % 4 == 3, "b", "a"),
        subject=cell // n_sessions + 1,
        session=cell % n_sessions,
        sfreq=100,
    )


@pytest.fixture
def small_trials() -> Callable[..., Trials]:
    """A function that makes random trials; its options are their sizes and the seed."""
    return make_trials


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> None:
    """One thread in each test process: threads that wait for a busy core are many times slower."""
    torch.set_num_threads(1)
