"""Studies: many runs, what came out of them, and where that is kept."""

from censorium.study.execute import Parts, evaluate, execute, to_fit
from censorium.study.plan import Study
from censorium.study.results import Results
from censorium.study.run import NETWORK, Evaluation, Failure, Outcome, Run, Scores

__all__ = [
    "NETWORK",
    "Evaluation",
    "Failure",
    "Outcome",
    "Parts",
    "Results",
    "Run",
    "Scores",
    "Study",
    "evaluate",
    "execute",
    "to_fit",
]
