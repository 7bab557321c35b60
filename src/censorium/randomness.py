"""Private streams of torch's random numbers, so that parts of a run never disturb one another."""

import threading
from types import TracebackType
from typing import Self

import torch
from torch import Tensor

# Torch has one generator for all threads of a process, so one stream at a time has it.
_TURN = threading.RLock()


class RandomStream:
    """A stream of random numbers of its own: inside ``with stream:`` torch draws from it.

    Outside, torch's global generators are as they were. `state` is what a checkpoint needs. Threads
    take turns.
    """

    def __init__(self, seed: int, device: torch.device) -> None:
        self.device = device
        # Not torch.manual_seed: that would seed the generators of every other device too.
        cpu = torch.device("cpu")
        kinds = [cpu] if device.type == "cpu" else [cpu, device]
        self.state = [torch.Generator(kind).manual_seed(seed).get_state() for kind in kinds]

    def __enter__(self) -> Self:
        _TURN.acquire()
        self._outer = self._read()
        self._write(self.state)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self.state = self._read()
            self._write(self._outer)
        finally:
            _TURN.release()

    def _read(self) -> list[Tensor]:
        states = [torch.get_rng_state()]
        if self.device.type == "cuda":
            states.append(torch.cuda.get_rng_state(self.device))
        elif self.device.type == "mps":
            states.append(torch.mps.get_rng_state())
        return states

    def _write(self, states: list[Tensor]) -> None:
        torch.set_rng_state(states[0])
        if self.device.type == "cuda":
            torch.cuda.set_rng_state(states[1], self.device)
        elif self.device.type == "mps":
            torch.mps.set_rng_state(states[1])
