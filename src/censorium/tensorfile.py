"""One file of tensors and JSON: safetensors, checked by a digest; nothing in it can execute."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import safetensors.torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from censorium.errors import FileError
from censorium.files import replacing

VERSION = 1


class Content(NamedTuple):
    """What a file holds."""

    tensors: dict[str, Tensor]
    header: dict[str, Any]


def write(path: str | Path, kind: str, tensors: Mapping[str, Tensor], header: Any) -> None:
    """Write a file of that kind; it is replaced whole or not at all."""
    held = {name: t.detach().cpu().contiguous().clone() for name, t in tensors.items()}
    text = json.dumps({"kind": f"censorium-{kind}", "version": VERSION, "header": header})
    content = safetensors.torch.save(held, {"json": text, "sha256": _digest(held, text)})
    with replacing(Path(path)) as new:
        new.write_bytes(content)


def read(path: str | Path, kind: str) -> Content:
    """The content of a file of that kind, or a `FileError` that says what is wrong with it."""
    path = Path(path)
    if not path.is_file():
        raise FileError(f"There is no file {path}.")
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        text, digest = metadata["json"], metadata["sha256"]
        parsed = json.loads(text)
        found, version, header = parsed["kind"], parsed["version"], parsed["header"]
    except SafetensorError as error:
        raise FileError(f"{path} is cut short, altered or no {kind} file: {error}.") from error
    except (KeyError, ValueError, TypeError) as error:
        raise FileError(f"{path} is not a {kind} that censorium wrote.") from error
    if found != f"censorium-{kind}":
        raise FileError(f"{path} holds a {found}, not a censorium-{kind}.")
    if version != VERSION:
        raise FileError(f"{path} is of format version {version}; this censorium reads {VERSION}.")
    if digest != _digest(tensors, text):
        raise FileError(f"{path} was altered since it was written: its digest does not match.")
    return Content(tensors, header)


def _digest(tensors: Mapping[str, Tensor], text: str) -> str:
    digest = hashlib.sha256(text.encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        digest.update(tensor.numpy().tobytes())
    return digest.hexdigest()
