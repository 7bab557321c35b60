"""Graphs and statements: what follows, what is refused and why, and the modes that come out."""

import copy
import pickle
from itertools import chain, combinations, permutations
from pathlib import Path

import joblib
import numpy as np
import pytest
import torch
from sklearn.base import clone
from torch.nn.functional import one_hot

from censorium import MODES, Censor, CensoredClassifier, Graph
from censorium.errors import FileError, OptionError
from censorium.modes import Term
from censorium.statements import Statement
from planted import OPTIONS, planted, same

FIRST = Graph("S->X, Y->Z, Z->X")
SECOND = Graph("S->X, S->Y, Y->Z, Z->X")
THIRD = Graph("Y->Z, Y->W, Z->X, S->W, W->X")
SITTINGS = Graph("subject->session, subject->X, session->X, Y->Z, Z->X")
PERSON = Graph("Y->Z, Y->W, subject->W, subject->session, session->X, Z->X, W->X")

PAPER = [
    (FIRST, ["Z ⟂ S"], {}, "marginal"),
    (SECOND, ["Z ⟂ S | Y"], {}, "conditional"),
    (SECOND, ["Z ⟂ S | Y"], {"direct": True}, "conditional-direct"),
    (THIRD, ["Z ⟂ S", "W not⟂ S"], {}, "complementary"),
]
NEW = [
    SITTINGS.mode("Z ⟂ subject", "Z ⟂ session | subject"),
    PERSON.mode("Z ⟂ subject", "W not⟂ subject", "W ⟂ session | subject, Y", direct=True),
]

GENERATOR = torch.Generator().manual_seed(0)
Z = torch.randn(6, 8, generator=GENERATOR)
Y = one_hot(torch.tensor([0, 1, 2, 0, 1, 2])).float()


def same_terms(a, b):
    """Whether two modes' terms are equal, their features bit for bit."""
    return all(
        torch.equal(s.features, t.features) and s._replace(features=0) == t._replace(features=0)
        for s, t in zip(a, b, strict=True)
    )


def subsets(names):
    """Every set of some of them, or of none."""
    return chain.from_iterable(combinations(names, n) for n in range(len(names) + 1))


def partial_correlation(covariance, i, j, given):
    """Of variables i and j, with those `given` held fixed."""
    chosen = [i, j, *given]
    precision = np.linalg.inv(covariance[np.ix_(chosen, chosen)])
    return precision[0, 1] / np.sqrt(precision[0, 0] * precision[1, 1])


@pytest.mark.parametrize("seed", range(30))
def test_statements_agree_with_partial_correlations(seed):
    """In linear Gaussian models d-separated variables, and only they, are uncorrelated given them.

    The covariance is the model's own, so what vanishes does so to round-off; that another
    vanishes by chance has probability zero. The search for open paths comes to the same.
    """
    rng = np.random.default_rng(seed)
    names = rng.permutation(["X", "Y", "Z", "W", "S", "V"][: rng.integers(4, 7)]).tolist()
    n = len(names)
    weights = np.triu(rng.uniform(0.5, 1.5, (n, n)) * rng.choice([-1, 1], (n, n)), 1)
    weights *= rng.random((n, n)) < 0.5
    edges = [f"{names[i]}->{names[j]}" for i, j in np.argwhere(weights)]
    linked = np.flatnonzero(weights.any(axis=0) | weights.any(axis=1))
    effects = np.linalg.inv(np.eye(n) - weights)
    covariance = effects.T @ effects
    graph = Graph(", ".join(edges))
    for i, j in combinations(linked, 2):
        for given in subsets([k for k in linked if k not in (i, j)]):
            bar = f" | {', '.join(names[k] for k in given)}" if given else ""
            text = f"{names[i]} ⟂ {names[j]}{bar}"
            vanishes = abs(partial_correlation(covariance, i, j, given)) < 1e-9
            assert graph.implies(text) == vanishes, (edges, text)
            assert graph.implies(text.replace("⟂", "not⟂")) != vanishes
            assert (graph.open_path(text) is None) == vanishes, (edges, text)


@pytest.mark.parametrize(
    ("graph", "independences", "dependences"),
    [
        (FIRST, "Z ⟂ S; Y ⟂ S", "Z not⟂ Y"),
        (SECOND, "Z ⟂ S | Y", "Z not⟂ S; Y not⟂ S; Z not⟂ Y"),
        (
            THIRD,
            "Z ⟂ S; Y ⟂ S; W ⟂ Z | Y",
            "W not⟂ S; Z not⟂ S | W; Y not⟂ S | W; W not⟂ Y; Z not⟂ Y; W not⟂ Z",
        ),
    ],
)
def test_the_papers_graphs_imply_what_the_paper_says(graph, independences, dependences):
    """Each figure implies the statements beneath it, and the lists are short and in order."""
    assert "; ".join(graph.independences()) == independences
    assert "; ".join(graph.dependences()) == dependences


@pytest.mark.parametrize("graph", [FIRST, SECOND, THIRD, SITTINGS, PERSON], ids=repr)
def test_the_lists_are_whole(graph):
    """Each pair given each set is in one of the two full lists; the short ones are parts of them.

    What the short list of independences leaves out follows for a set from one of its parts.
    """
    every, rest = graph.independences(minimal=False), graph.dependences(minimal=False)
    read = [Statement.read(text) for text in every + rest]
    n = len({name for s in read for name in (s.left, s.right, *s.given)})
    assert len({*every, *rest}) == len(every) + len(rest) == n * (n - 1) // 2 * 2 ** (n - 2)
    assert all(map(graph.implies, every + rest))
    assert set(graph.independences()) <= set(every)
    assert set(graph.dependences()) <= set(rest)
    for text in set(every) - set(graph.independences()):
        left, right, given, _ = Statement.read(text)
        less = (str(Statement(left, right, part)) for part in subsets(given) if part != given)
        assert set(less) & set(graph.independences())


def test_given_the_signals_a_cause_tells_of_another():
    """Z ⟂ S does not hold given X, their common effect, or given what X causes."""
    assert FIRST.implies("Z ⟂ S")
    assert not FIRST.implies("Z ⟂ S | X")
    assert FIRST.open_path("Z ⟂ S | X") == "Z → X ← S"
    assert Graph("S->X, Z->X, X->V").open_path("Z ⟂ S | V") == "Z → X ← S"


@pytest.mark.parametrize(("graph", "statements", "options", "name"), PAPER)
def test_the_papers_graphs_give_the_papers_modes(graph, statements, options, name):
    """The statements under the paper's figures are its three modes: the same terms, bit for bit."""
    expected = MODES[name](Z, Y)
    assert same_terms(graph.mode(*statements, **options)(Z, Y), expected)
    assert same_terms(graph.mode(", ".join(statements), **options)(Z, Y), expected)


def test_terms_name_what_is_measured_and_what_is_held_fixed():
    """A statement's right side is the nuisance; nuisances given are held fixed, Y if `direct`."""
    texts = ["Z ⟂ subject", "W not⟂ subject | Y", "W ⟂ session | subject, Y"]
    z, w = Z.chunk(2, dim=-1)
    beside = torch.cat([w, Y], dim=-1)
    by_chain_rule = (
        Term(+1, z, "subject"),
        Term(-1, beside, "subject"),
        Term(+1, beside, "session", ("subject",)),
    )
    directly = (
        Term(+1, z, "subject"),
        Term(-1, w, "subject", ("Y",)),
        Term(+1, w, "session", ("Y", "subject")),
    )
    assert same_terms(PERSON.mode(*texts)(Z, Y), by_chain_rule)
    assert same_terms(PERSON.mode(*texts, direct=True)(Z, Y), directly)


def test_latents_share_the_features_in_the_order_they_are_named():
    """The first latent named has the first features, however often it is named."""
    (w, _, z) = PERSON.mode("W ⟂ session | subject", "W not⟂ subject", "Z ⟂ subject")(Z, Y)
    assert torch.equal(torch.cat([w.features, z.features], dim=-1), Z)
    with pytest.raises(OptionError, match="W, Z share the features evenly, and 7 cannot"):
        Censor("adversarial", PERSON.mode("W not⟂ subject, Z ⟂ subject"), n_features=7,
               n_classes=3, n_nuisance=2, variables={"subject": [0, 1]})  # fmt: skip


@pytest.mark.parametrize(
    "text",
    ["S->X, Y->Z, Z->X", "Y → Z → X\nS → X", " S->X Y->Z; Z->X;\n", "S -> X, Y -> Z -> X, S->X"],
)
def test_ways_to_write_one_graph(text):
    """Commas, semicolons, spaces and lines part the edges; chains are as good."""
    assert Graph(text).independences(minimal=False) == FIRST.independences(minimal=False)


@pytest.mark.parametrize(
    "text",
    ["Z ⟂ S | Y, X", "S ⟂ Z|X,Y", "Z ⊥ S | Y, X", "Z⟂S | Y,X", "Z _||_ S | Y, X ", "Z_||_S|Y,X"],
)
def test_ways_to_write_one_statement(text):
    """Sides, order of what is given and the sign's kind do not matter; it prints in one way."""
    assert str(Statement.read(text)) == "Z ⟂ S | X, Y"


@pytest.mark.parametrize("text", ["W not⟂ S", "W not ⟂ S", "S not _||_ W", "W not_||_ S"])
def test_ways_to_write_a_dependence(text):
    """`not` before the sign, with a space after it or without."""
    assert Statement.read(text) == Statement("W", "S", (), independent=False)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "'' is no edge. Write a graph as edges from cause to effect"),
        ("S->X, Z", "'Z' is no edge"),
        ("S-X", "'S-X' is no edge"),
        ("S->", "'S→' is no edge"),
        (None, "A graph is a text, got None."),
        ("Z->Z", "The graph goes in a circle: Z → Z. Take one"),
        ("Y->Z, S->X, Z->W->Y", "The graph goes in a circle: Y → Z → W → Y. Take one"),
        ("subj->X", "Unknown variable 'subj'. Did you mean 'subject'? Known: S, X"),
        ("y->Z->X", "Unknown variable 'y'"),
        ("Session->X", "Unknown variable 'Session'. Did you mean 'session'?"),
        ("S->X, subject->X", "S is subject x session, and the graph has it beside its own part."),
    ],
)
def test_a_graph_that_cannot_be_read(text, message):
    """Loose ends, circles and names that seem misspelt are errors that name them."""
    with pytest.raises(OptionError) as caught:
        Graph(text)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("graph", "statements", "message"),
    [
        (FIRST, [], "A mode needs a statement"),
        (FIRST, [3], "A statement is a text, got 3."),
        (FIRST, ["Z S"], "'Z S' is no statement. Write 'Z ⟂ S'"),
        (FIRST, ["Z ⟂ S |"], "'Z ⟂ S |' is no statement"),
        (FIRST, ["Z ⟂ S ⟂ Y"], "'Z ⟂ S ⟂ Y' is no statement"),
        (FIRST, ["Z ⟂ S | S"], "'Z ⟂ S | S' names one variable twice"),
        (FIRST, ["W ⟂ S"], "Unknown variable 'W'. Known: S, X, Y, Z."),
        (FIRST, ["Z ⟂ S", "S ⟂ Z"], "Z ⟂ S came twice"),
        (
            SECOND,
            ["Z ⟂ S"],
            "The graph does not imply Z ⟂ S: the path Z ← Y ← S is open. It implies Z ⟂ S | Y. ",
        ),
        (
            FIRST,
            ["Z ⟂ S | X"],
            "The graph does not imply Z ⟂ S | X: given X, the path Z → X ← S is open. "
            "It implies Z ⟂ S. ",
        ),
        (
            PERSON,
            ["W ⟂ session"],
            "The graph does not imply W ⟂ session: the path W ← subject → session is open. "
            "It implies W ⟂ session | subject. ",
        ),
        (
            THIRD,
            ["Z ⟂ S", "W ⟂ S"],
            "The graph does not imply W ⟂ S: the path W ← S is open. It implies W not⟂ S. ",
        ),
        (
            FIRST,
            ["Z not⟂ S"],
            "The graph does not imply Z not⟂ S: no path between them is open. It implies Z ⟂ S. ",
        ),
        (
            FIRST,
            ["Y ⟂ S"],
            "The graph implies Y ⟂ S, but no mode enforces it: both are as they were recorded, "
            "and training changes neither. Choose one about a latent and a nuisance",
        ),
        (FIRST, ["Z not⟂ Y"], "The graph implies Z not⟂ Y, but no mode enforces it: a measure"),
        (THIRD, ["Z ⟂ W | Y"], "The graph implies W ⟂ Z | Y, but no mode enforces it: both are f"),
        (
            Graph("S->W, S->Y, W->V, Y->V, V->Z, Z->X, S->X"),
            ["Z ⟂ S | V"],
            "The graph implies Z ⟂ S | V, but no mode enforces it: V cannot be held fixed as a "
            "label or a nuisance can. Choose one about a latent and a nuisance",
        ),
        (
            Graph("Y->W, W->Z, Z->X, S->X"),
            ["Z ⟂ S | W"],
            "The graph implies Z ⟂ S | W, but no mode enforces it: W cannot be held fixed as a "
            "label or a nuisance can. Choose Z ⟂ S; Z ⟂ S | Y.",
        ),
    ],
)
def test_a_statement_that_makes_no_mode(graph, statements, message):
    """What does not follow is refused with the open path, what cannot be enforced with why."""
    with pytest.raises(OptionError) as caught:
        graph.mode(*statements)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("order", list(permutations(range(5)))[::17])
def test_the_order_of_edges_does_not_matter(order):
    """Lists and refusals are the same whichever way the edges are written."""
    edges = THIRD.edges.split(", ")
    graph = Graph(", ".join(edges[i] for i in order))
    assert graph.independences(minimal=False) == THIRD.independences(minimal=False)
    assert graph.dependences(minimal=False) == THIRD.dependences(minimal=False)


@pytest.mark.parametrize("mode", NEW, ids=lambda mode: mode.__name__)
def test_a_mode_is_a_value(mode):
    """Copies, pickles and equal statements are equal, look the same and give the same terms."""
    for again in (copy.deepcopy(mode), pickle.loads(pickle.dumps(mode))):  # noqa: S301
        assert again == mode
        assert repr(again) == repr(mode)
        assert hash(again) == hash(mode)
        assert same_terms(again(Z, Y), mode(Z, Y))
    assert SITTINGS.mode("Z ⟂ subject", "Z ⟂ session | subject") == NEW[0]
    assert NEW[0].__name__ == "Z ⟂ subject, Z ⟂ session | subject"
    assert NEW[1].__name__.endswith(" (direct)")


@pytest.mark.parametrize(("graph", "statements", "options", "name"), PAPER)
def test_the_papers_graphs_train_as_its_modes(graph, statements, options, name):
    """Trained by the graph's mode or by the mode's name, the weights are equal bit for bit."""
    trials = planted(n_per_session=20)
    by_graph, by_name = (
        CensoredClassifier(mode=mode, **OPTIONS).fit(trials)
        for mode in (graph.mode(*statements, **options), name)
    )
    assert same(by_graph.model_.state_dict(), by_name.model_.state_dict())
    assert by_graph.history_ == by_name.history_


@pytest.mark.parametrize("mode", NEW, ids=lambda mode: mode.__name__)
def test_a_new_graph_trains(mode, tmp_path):
    """A mode of two nuisances trains, goes on from a checkpoint, and is cloned, sent and saved."""
    trials = planted(n_per_session=20)
    model = CensoredClassifier(mode=mode, **OPTIONS).fit(trials)
    assert [len(record.dependence) for record in model.history_] == [len(mode.statements)] * 3
    whole = model.model_.state_dict()
    assert not same(whole, CensoredClassifier(None, **OPTIONS).fit(trials).model_.state_dict())

    began = clone(model).set_params(checkpoint=tmp_path / "run", epochs=1).fit(trials)
    resumed = clone(began).set_params(epochs=3).fit(trials)
    assert same(resumed.model_.state_dict(), whole)
    other = SITTINGS.mode("Z ⟂ session | subject")
    with pytest.raises(FileError, match="other data or options"):
        clone(resumed).set_params(mode=other).fit(trials)

    probabilities = model.predict_proba(trials)
    joblib.dump(model, tmp_path / "model.joblib")
    model.save(tmp_path / "model.safetensors")
    loaded = CensoredClassifier.load(tmp_path / "model.safetensors")
    assert loaded.mode == mode.__name__
    for again in (
        joblib.load(tmp_path / "model.joblib"),
        pickle.loads(pickle.dumps(model)),  # noqa: S301
        loaded,
    ):
        assert np.array_equal(again.predict_proba(trials), probabilities)


def test_a_mode_that_the_trials_cannot_serve():
    """A nuisance that nobody passed to the censor is an error that names it."""
    with pytest.raises(OptionError, match="Unknown variable 'subject'"):
        Censor("adversarial", NEW[0], n_features=8, n_classes=3, n_nuisance=2)


def test_the_page_prints_what_it_says(tmp_path, monkeypatch, capsys):
    """What docs/graphs.md says that its examples print, they print."""
    from test_docs import blocks

    monkeypatch.chdir(tmp_path)
    code = "\n".join(blocks(Path(__file__).parents[1] / "docs" / "graphs.md", "python"))
    exec(compile(code, "graphs.md", "exec"), {})  # noqa: S102
    said = [line.removeprefix("# ") for line in code.splitlines() if line.startswith("# ")]
    assert said == capsys.readouterr().out.splitlines()
