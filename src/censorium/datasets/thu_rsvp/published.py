"""The RSVP benchmark as published: Zhang et al. (2020), 64 people in two sessions each."""

from censorium.datasets.download import Wanted

URL = "http://bci.med.tsinghua.edu.cn/upload/zhangshangen/"
N_SUBJECTS = 64
SESSIONS = ("A", "B")

SHA256 = {
    "S1-S10.mat.zip": "02893ac902dc9bb39e99e35f44f9c8cddb6b810a6f255ee33258c37fbd4ed08e",
    "S11-S20.mat.zip": "d137b6f4f861932701d3f4bf07b4a143c34095f5aabef2f9372be018e78956d3",
    "S21-S30.mat.zip": "6ac5f9cb7fead05942bbcc639cc28e648c5219b45c6624c838045ba26e29995d",
    "S31-S40.mat.zip": "c53f8400502175e2069e1645572852c0fc01d304fec060ccafe1394428044954",
    "S41-S50.mat.zip": "5f6d5fa5758ff00f630ddf87984ded56d42a271edc0c199f06d7d549609c2ab1",
    "S51-S60.mat.zip": "827429e2c3224860d33ae82d78ef52846882bd193176cf9edf5d4a27dec74ced",
    "S61-S64.mat.zip": "c500e8ef2062f71c3b7a929c26d1e6068fb73ede4593b7983d0bdb0fa8af51b3",
    "64-channels.loc": "947e5a743d86a5c94eaca6c442f1858f39d19486a5e841df4147063e15e9108c",
}
UNSIGNED = ("note.txt", "Readme.txt", "subjects_information.xlsx")  # without a published digest

SFREQ = 250.0
PACE = 25  # samples from image to image
SEQUENCE = 100  # images
TARGET = 1  # in class_labels; 2 is a non-target
MICROVOLT = 1e-6

# The rows of EEGdata, in the names of the 10-05 system; CB1 and CB2 have no place in it.
CAP = """
Fp1 Fpz Fp2 AF3 AF4 F7 F5 F3 F1 Fz F2 F4 F6 F8 FT7 FC5 FC3 FC1 FCz FC2 FC4 FC6 FT8
T7 C5 C3 C1 Cz C2 C4 C6 T8 M1 TP7 CP5 CP3 CP1 CPz CP2 CP4 CP6 TP8 M2
P7 P5 P3 P1 Pz P2 P4 P6 P8 PO7 PO5 PO3 POz PO4 PO6 PO8 CB1 O1 Oz O2 CB2
"""
ROWS = tuple(CAP.split())
MASTOIDS = ("M1", "M2")  # rows 33 and 43, counted from 1
CH_NAMES = tuple(name for name in ROWS if name not in MASTOIDS)


def zip_of(subject: int) -> str:
    """The name of the zip in which a subject's sessions are."""
    first = (subject - 1) // 10 * 10 + 1
    return f"S{first}-S{min(first + 9, N_SUBJECTS)}.mat.zip"


def mat_of(subject: int, session: str) -> str:
    """The name of the file of a session."""
    return f"sub{subject}{session}.mat"


def wanted(subjects: range | list[int]) -> list[Wanted]:
    """The files that hold these subjects, and those that describe them."""
    zips = dict.fromkeys(zip_of(subject) for subject in subjects)
    signed = [Wanted(name, SHA256[name]) for name in (*zips, "64-channels.loc")]
    return [*signed, *map(Wanted, UNSIGNED)]
