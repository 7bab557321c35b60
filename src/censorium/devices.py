"""The device that a name stands for."""

import torch

from censorium.errors import OptionError


def torch_device(name: str) -> torch.device:
    """The device of that name, or an `OptionError` if this machine has none such."""
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, TypeError) as error:
        raise OptionError(f"Device {name!r} is not to be had here: {error}") from error
    return device
