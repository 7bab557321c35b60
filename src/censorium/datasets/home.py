"""Where data that are downloaded or prepared once are kept."""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

VARIABLE = "CENSORIUM_DATA"


def home() -> Path:
    """The folder that the environment's `CENSORIUM_DATA` names, else one in the user's home."""
    named = os.environ.get(VARIABLE)
    return Path(named).expanduser() if named else Path.home() / "censorium_data"


def place_of(name: str, recipe: Mapping[str, Any]) -> Path:
    """Where trials that are made by this recipe are kept."""
    digest = hashlib.sha256(json.dumps(recipe, sort_keys=True).encode()).hexdigest()
    safe = "".join(c if c.isalnum() or c in "-_." else "-" for c in name)
    return home() / "prepared" / f"{safe}-{digest[:10]}"
