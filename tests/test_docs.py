"""The code in the README and the docs runs, and the commands they name exist."""

import importlib
import re
import sys
import types
from pathlib import Path

import click
import numpy as np
import pytest
import torch

from censorium import CensoredClassifier
from censorium.cli import main
from censorium.dependence import MEASURES

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(page, language):
    """The code blocks of a page in that language, without their indentation."""
    found = re.findall(rf"^( *)```{language}\n(.*?)^ *```", page.read_text(), re.M | re.S)
    return [re.sub(rf"^{indent}", "", code, flags=re.M) for indent, code in found]


def commands():
    """Every command, as the words that call it."""

    def walk(command, words):
        if isinstance(command, click.Group):
            context = click.Context(command)
            for name in command.list_commands(context):
                yield from walk(command.get_command(context, name), [*words, name])
        else:
            yield words, command

    return list(walk(main, []))


def test_the_readmes_python_runs(capsys):
    """The README's examples run from top to bottom, and print a score of each model."""
    code = "\n".join(blocks(ROOT / "README.md", "python"))
    exec(compile(code, "README.md", "exec"), {})  # noqa: S102
    printed = capsys.readouterr().out
    assert re.search(r"^None: balanced accuracy 0\.\d\d", printed, re.M)
    assert re.search(r"^density-ratio: balanced accuracy 0\.\d\d", printed, re.M)


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda p: p.name)
def test_the_docs_python_runs(page, tmp_path, monkeypatch):
    """The examples of a page run from top to bottom, in a folder of their own."""
    monkeypatch.chdir(tmp_path)
    code = "\n".join(blocks(page, "python"))
    exec(compile(code, page.name, "exec"), {})  # noqa: S102


def test_the_walk_through_adds_a_measure(monkeypatch):
    """Following CONTRIBUTING adds a measure that trains, by name, and obeys the laws of one."""
    code, line = blocks(ROOT / "CONTRIBUTING.md", "python")
    module = types.ModuleType("censorium.dependence.mean_spread")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(compile(code, "CONTRIBUTING.md", "exec"), vars(module))  # noqa: S102
    added = eval(f"{{{line}}}", vars(module))  # noqa: S307
    assert len(code.splitlines()) < 60
    censor = importlib.import_module("censorium.censor")
    monkeypatch.setattr(censor, "MEASURES", {**MEASURES, **added})

    measure = module.MeanSpread(3, 2)
    s = torch.arange(100) % 2
    apart = torch.randn(100, 3) + 4.0 * s[:, None]
    # Means at 0 and 4 in three dimensions: each 2 from the middle, squared and summed.
    assert float(measure.estimate(apart, s)) == pytest.approx(12, rel=0.3)
    assert float(measure.estimate(apart, torch.zeros(100, dtype=torch.long))) == pytest.approx(0)
    x = np.random.default_rng(0).standard_normal((40, 2, 20))
    model = CensoredClassifier("mean-spread", epochs=1, latent_size=4, random_state=0)
    model.fit(x, np.arange(40) % 2, subjects=np.arange(40) // 10)
    assert model.history_[0].dependence[0] > 0


@pytest.mark.parametrize(
    ("words", "command"), commands(), ids=lambda v: " ".join(v) if isinstance(v, list) else ""
)
def test_every_command_is_documented(words, command):
    """Every command has help with examples, help for every option, and a place in the docs."""
    name = f"censorium {' '.join(words)}"
    assert f"## {name}\n" in (ROOT / "docs" / "command-line.md").read_text()
    shown = command.get_help(click.Context(command, info_name=name))
    examples = shown.split("Examples:\n")[1].split("Options:")[0].strip().splitlines()
    assert all(line.strip().startswith(name) for line in examples)
    for option in command.params:
        if option.param_type_name == "option":
            assert option.help, f"{name} {option.opts}"


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_commands_on_the_pages_parse(page):
    """Every command line that a page shows has a known command and known options."""
    known = {" ".join(words): command for words, command in commands()}
    for block in blocks(page, "sh"):
        for line in block.splitlines():
            if not line.startswith("censorium ") or "--help" in line:
                continue
            words = line.split("#")[0].split(">")[0].split()[1:]
            name = max((n for n in known if " ".join(words).startswith(n)), key=len, default=None)
            assert name, line
            arguments = words[len(name.split()) :]
            known[name].make_context(name, arguments, resilient_parsing=False)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(page):
    """Every relative link and picture on a page is a file of the repository."""
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text()):
        assert (page.parent / target).exists(), target
