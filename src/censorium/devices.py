"""The device that a name stands for, and how to compute there so that a result can be repeated."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from censorium.errors import OptionError


def torch_device(name: str) -> torch.device:
    """The device of that name, or an `OptionError` if this machine has none such."""
    try:
        device = torch.device(name)
        torch.empty(0, device=device).sum().item()  # fails on "meta", which holds no numbers
    except (RuntimeError, AssertionError, TypeError) as error:
        raise OptionError(f"Device {name!r} is not to be had here: {error}") from error
    return device


@contextmanager
def repeatable() -> Iterator[None]:
    """Inside, convolutions on CUDA give the same bits each time, in full single precision.

    The quickest ones add in an order of their own and round their input to ten bits. Outside,
    torch's settings are as they were.
    """
    cudnn = torch.backends.cudnn
    with cudnn.flags(enabled=cudnn.enabled, benchmark=False, deterministic=True, allow_tf32=False):
        yield
