"""The public surface: names, layers, and what an import leaves alone."""

import ast
import doctest
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import censorium

SOURCE = Path(censorium.__file__).parent
DESIGN = Path(__file__).parents[1] / "docs" / "design.md"
MODULES = sorted(m.name for m in pkgutil.walk_packages([str(SOURCE)], "censorium."))


def layers():
    """Modules in the order in which docs/design.md lists them, top to bottom."""
    block = DESIGN.read_text().split("```")[1]
    names, folder = [], ""
    for line in block.splitlines():
        entry = line.split()[0] if line.split() else ""
        if line.startswith("    "):
            entry = f"{folder}{entry}"
        elif entry.endswith("/"):
            folder = entry
        if entry.endswith((".py", "/")) and not entry.startswith("src/"):
            names.append(entry.removesuffix(".py").removesuffix("/").replace("/", "."))
    return names


def imports_of(path):
    """The censorium modules that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("censorium"):
            if node.module == "censorium":
                yield from (f"censorium.{alias.name}" for alias in node.names)
            else:
                yield node.module
        elif isinstance(node, ast.Import):
            yield from (a.name for a in node.names if a.name.startswith("censorium"))


def layer_of(module):
    """The place of a module among the layers: of the longest name that it begins with."""
    name = module.removeprefix("censorium").removeprefix(".")
    found = [layer for layer in layers() if name == layer or name.startswith(f"{layer}.")]
    return layers().index(max(found, key=len)) if found else None


def test_public_names_are_what_all_lists():
    """`__all__` is sorted as ruff sorts it, and each of its names exists and says what it is."""
    for name in censorium.__all__:
        assert hasattr(censorium, name), name
        if name not in ("MEASURES", "MODES"):
            assert getattr(censorium, name).__doc__, name
    public = {
        n
        for n, v in vars(censorium).items()
        if not n.startswith("_") and not isinstance(v, type(sys))
    }
    assert public == set(censorium.__all__) - {"datasets"}


def test_every_file_has_a_layer():
    """Every module stands in docs/design.md, and every name there is a module."""
    for module in MODULES:
        if module != "censorium.__main__":
            assert layer_of(module) is not None, f"{module} is not in docs/design.md"
    for layer in layers():
        assert f"censorium.{layer}" in MODULES, f"docs/design.md lists {layer}, which is no module"


@pytest.mark.parametrize("module", MODULES)
def test_imports_go_one_way(module):
    """A module imports only from layers above its own, or from within its own package."""
    path = SOURCE / Path(*module.split(".")[1:])
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    own = layer_of(module)
    if own is None:
        assert module == "censorium.__main__"
        return
    for used in imports_of(path):
        other = layer_of(used)
        # datasets/__init__ stands for its package, whose files are listed below it.
        same_package = used.split(".")[1:2] == module.split(".")[1:2]
        assert other is None or other < own or same_package, f"{module} imports {used}"


@pytest.mark.parametrize("module", MODULES)
def test_examples_in_docstrings_run(module):
    """Every example in a docstring prints what it says."""
    result = doctest.testmod(importlib.import_module(module))
    assert result.failed == 0


def test_importing_changes_nothing_global():
    """Importing leaves generators, threads, warnings and logging as they were."""
    script = """
import logging, warnings
import numpy, torch, mne, sklearn, matplotlib
def look():
    return (
        torch.initial_seed(), torch.get_rng_state().tolist(), torch.get_num_threads(),
        torch.get_default_dtype(), numpy.random.get_state()[1].tolist(),
        list(warnings.filters), list(logging.root.handlers), logging.root.level,
        sklearn.get_config(), dict(matplotlib.rcParams), mne.get_config("MNE_LOGGING_LEVEL"),
    )
before = look()
import censorium, censorium.cli, censorium.report
assert look() == before
"""
    done = subprocess.run(
        [sys.executable, "-c", script], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
