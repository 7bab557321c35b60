"""Train EEG decoders that work on people they have never seen.

>>> import censorium
>>> "CensoredClassifier" in censorium.__all__
True
"""

from censorium import datasets
from censorium.audit import audit
from censorium.censor import Censor
from censorium.dependence import MEASURES, Dependence
from censorium.errors import CensoriumError
from censorium.estimator import CensoredClassifier
from censorium.graphs import Graph
from censorium.modes import MODES
from censorium.splits import (
    SubjectSplit,
    leave_one_subject_out,
    paper_folds,
    subject_kfold,
)
from censorium.trials import Info, Trials, concatenate

__version__ = "0.1.0"

__all__ = [
    "MEASURES",
    "MODES",
    "Censor",
    "CensoredClassifier",
    "CensoriumError",
    "Dependence",
    "Graph",
    "Info",
    "SubjectSplit",
    "Trials",
    "audit",
    "concatenate",
    "datasets",
    "leave_one_subject_out",
    "paper_folds",
    "subject_kfold",
]
