"""How much do these features know about who the subject is?"""

from censorium.auditing.probe import PROBE_FOLDS, Probe, mean_probe, probe
from censorium.auditing.result import Accuracy, Audit, Information, Interval, Person, Plane
from censorium.auditing.run import audit
from censorium.auditing.views import groups, views

__all__ = [
    "PROBE_FOLDS",
    "Accuracy",
    "Audit",
    "Information",
    "Interval",
    "Person",
    "Plane",
    "Probe",
    "audit",
    "groups",
    "mean_probe",
    "probe",
    "views",
]
