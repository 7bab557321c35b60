from . import datasets
from .auditing import audit
from .censor import Censor
from .dependence import MEASURES, Dependence
from .errors import CensoriumError
from .estimator import CensoredClassifier
from .graphs import Graph
from .modes import MODES
from .splits import SubjectSplit, leave_one_subject_out, paper_folds, subject_kfold
from .trials import Info, Trials, concatenate

__version__: str

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
