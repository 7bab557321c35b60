"""Graphs: from a generative model to the independences it implies, and from these to a mode."""

import re
from collections.abc import Iterator
from itertools import combinations, pairwise

import networkx as nx

from censorium.errors import OptionError, unknown
from censorium.statements import (
    NAME,
    NEXT,
    ROLES,
    StatedMode,
    Statement,
    order,
    require_text,
    role,
)

ARROW = re.compile(r"\s*(?:->|→)\s*")


class Graph:
    """A generative model: a directed graph without cycles, whose arrows go from cause to effect.

    ``X`` is the signals, ``Y`` the label; ``S`` is the nuisance, subject x session, of which
    ``subject`` and ``session`` are the parts. Any other name, with a capital letter, is a latent.

    Parameters
    ----------
    edges : str
        Such as ``"S->X, Y->Z, Z->X"``, or in chains ``"Y->Z->X, S->X"``; ``→`` is an arrow too.

    Examples
    --------
    >>> from censorium import CensoredClassifier, Graph
    >>> graph = Graph("S->X, S->Y, Y->Z, Z->X")
    >>> graph.independences()
    ('Z ⟂ S | Y',)
    >>> graph.open_path("Z ⟂ S")
    'Z ← Y ← S'
    >>> model = CensoredClassifier(mode=graph.mode("Z ⟂ S | Y"))
    """

    def __init__(self, edges: str) -> None:
        self.edges = edges
        self._dag = read_edges(edges)

    def __repr__(self) -> str:
        return f"Graph({self.edges!r})"

    def independences(self, *, minimal: bool = True) -> tuple[str, ...]:
        """The independences it implies among all but X, those that concern a nuisance first.

        Where a set makes two variables independent, sets that hold it and more are left out, even
        if they do so too; `minimal=False` lists them.
        """
        return self._listed(True, minimal)

    def dependences(self, *, minimal: bool = True) -> tuple[str, ...]:
        """The dependences that remain, likewise: some with nothing given, some by what is given."""
        return self._listed(False, minimal)

    def implies(self, statement: str) -> bool:
        """Whether two variables are d-separated; of a statement of dependence, whether not."""
        return self._holds(self._read(statement))

    def open_path(self, statement: str) -> str | None:
        """The shortest path along which the statement's variables depend, if there is one."""
        return self._open_path(self._read(statement))

    def mode(self, *statements: str, direct: bool = False) -> StatedMode:
        """A mode that enforces `statements`, each of which the graph must imply.

        Parameters
        ----------
        *statements : str
            Such as ``"Z ⟂ S"``, ``"Z ⟂ session | subject, Y"``, ``"W not⟂ S"``; ``_||_`` stands for
            ``⟂``. One text may hold several, with commas between.
        direct : bool
            How a given Y is met. False: by the chain rule, the one-hot label beside the features,
            as in the paper. True: by comparing trials of one label only.
        """
        texts = (part for s in statements for part in NEXT.split(require_text("statement", s)))
        read = tuple(self._read(text) for text in texts)
        if not read:
            raise OptionError("A mode needs a statement, such as 'Z ⟂ S', and none came.")
        for statement in read:
            self._require(statement)
            if read.count(statement) > 1:
                raise OptionError(f"{statement} came twice. Say it once.")
        return StatedMode(read, direct)

    def _read(self, text: str) -> Statement:
        statement = Statement.read(text)
        for name in (statement.left, statement.right, *statement.given):
            if name not in self._dag:
                raise OptionError(unknown("variable", name, self._dag))
        return statement

    def _require(self, statement: Statement) -> None:
        pair, given, independent = statement[:2], statement.given, statement.independent
        if not self._holds(statement):
            known = [*self._about(*pair, independent)] or [*self._about(*pair, not independent)]
            path = self._open_path(statement)
            held = f"given {', '.join(given)}, " if given else ""
            why = f"the path {path} is open" if path else "no path between them is open"
            raise OptionError(
                f"The graph does not imply {statement}: {held}{why}. It implies "
                f"{'; '.join(map(str, known))}. Choose another statement, or redraw the graph."
            )
        if reason := statement.hindrance():
            known = [*self._about(*pair, independent, minimal=False)]
            choice = "; ".join(str(s) for s in known if not s.hindrance())
            raise OptionError(
                f"The graph implies {statement}, but no mode enforces it: {reason}. Choose "
                f"{choice or 'one about a latent and a nuisance, given only labels or nuisances'}."
            )

    def _holds(self, statement: Statement) -> bool:
        left, right, given, independent = statement
        return bool(nx.is_d_separator(self._dag, {left}, {right}, {*given}) is independent)

    def _open_path(self, statement: Statement) -> str | None:
        dag, given = self._dag, set(statement.given)
        opened = given.union(*(nx.ancestors(dag, name) for name in given))

        def passes(before: str, name: str, after: str) -> bool:
            collider = dag.has_edge(before, name) and dag.has_edge(after, name)
            return name in opened if collider else name not in given

        paths = nx.all_simple_paths(dag.to_undirected(), statement.left, statement.right)
        found = [p for p in paths if all(passes(*t) for t in zip(p, p[1:], p[2:], strict=False))]
        if not found:
            return None
        path = min(found, key=len)
        steps = (f"{'→' if dag.has_edge(a, b) else '←'} {b}" for a, b in pairwise(path))
        return " ".join([path[0], *steps])

    def _listed(self, independent: bool, minimal: bool) -> tuple[str, ...]:
        names = sorted(set(self._dag) - {"X"}, key=order)
        pairs = sorted(combinations(names, 2), key=lambda p: (-role(p[1]), *map(order, p)))
        return tuple(str(s) for pair in pairs for s in self._about(*pair, independent, minimal))

    def _about(
        self, left: str, right: str, independent: bool, minimal: bool = True
    ) -> Iterator[Statement]:
        """All that holds of two variables, with the fewest given first."""
        others, found = sorted(set(self._dag) - {left, right, "X"}), list[set[str]]()
        for given in (g for n in range(len(others) + 1) for g in combinations(others, n)):
            statement = Statement(left, right, given, independent)
            if minimal and any(fewer < set(given) for fewer in found):
                continue
            if self._holds(statement):
                found.append(set(given))
                yield statement


def read_edges(text: str) -> nx.DiGraph:
    """The directed graph whose edges `text` lists."""
    dag = nx.DiGraph()
    for chain in re.split(r"[\s,;]+", ARROW.sub("→", require_text("graph", text)).strip(" \n\t,;")):
        names = chain.split("→")
        if len(names) < 2 or not all(map(NAME.fullmatch, names)):
            raise OptionError(
                f"{chain!r} is no edge. Write a graph as edges from cause to effect, "
                "such as 'S->X, Y->Z, Z->X'."
            )
        dag.add_edges_from(pairwise(names))
    require_names(dag)
    if not nx.is_directed_acyclic_graph(dag):
        causes, effects = zip(*nx.find_cycle(dag), strict=True)
        circle = " → ".join([*causes, effects[-1]])
        raise OptionError(f"The graph goes in a circle: {circle}. Take one of these edges out.")
    return dag


def require_names(dag: nx.DiGraph) -> None:
    """Raise an `OptionError` where a name seems misspelt, or S stands beside its parts."""
    for name in dag:
        misspelt = name.casefold() in map(str.casefold, ROLES) or not name[0].isupper()
        if misspelt and name not in ROLES:
            raise OptionError(
                f"{unknown('variable', name, ROLES)} A latent's name begins with a capital letter."
            )
    if "S" in dag and {"subject", "session"} & set(dag):
        raise OptionError(
            "S is subject x session, and the graph has it beside its own part. "
            "Draw S alone, or subject and session."
        )
