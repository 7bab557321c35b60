"""What may be kept of a run besides its scores: the fitted models, and what they predict."""

import io
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from scipy.special import softmax

from censorium.estimator import CensoredClassifier
from censorium.extras import required
from censorium.nets import infer
from censorium.trials import Trials

Models = Mapping[str, CensoredClassifier]
"""The fitted classifier at each evaluation point."""


def weights(models: Models, test: Trials) -> dict[str, bytes]:
    """A model file for each evaluation point, which `CensoredClassifier.load` opens."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for point, model in models.items():
            path = Path(folder) / f"{point}.safetensors"
            model.save(path)
            found[path.name] = path.read_bytes()
    return found


def predictions(models: Models, test: Trials) -> dict[str, bytes]:
    """A Parquet table for each evaluation point: the test trials' class probabilities."""
    pyarrow, parquet = (
        required(module, "parquet", "A table of predictions")
        for module in ("pyarrow", "pyarrow.parquet")
    )
    names, found = np.array(test.info.class_names), {}
    for point, model in models.items():
        probability = softmax(infer(model.model_, test.signals).logits.astype(np.float64), axis=1)
        columns = {
            "subject": test.subject,
            "session": test.session,
            "label": names[test.y],
            **{f"p_{name}": probability[:, k] for k, name in enumerate(model.classes_)},
        }
        file = io.BytesIO()
        table = pyarrow.table({name: column.tolist() for name, column in columns.items()})
        parquet.write_table(table, file)
        found[f"{point}.parquet"] = file.getvalue()
    return found


Keeper = Callable[[Models, Trials], dict[str, bytes]]

KEEPERS: dict[str, Keeper] = {
    "predictions": predictions,
    "weights": weights,
}
