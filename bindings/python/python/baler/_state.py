"""Where baler keeps its secret key, compiled strategies and the default archive."""

import os
from pathlib import Path


def default_folder() -> Path | None:
    """Returns the state folder that the program `baler` uses too; `None` if the environment names none."""
    if named := os.environ.get("BALER_STATE"):
        return Path(named)
    state = os.environ.get("XDG_STATE_HOME", "")
    if os.path.isabs(state):
        return Path(state) / "baler"
    home = os.environ.get("HOME", "")
    return Path(home) / ".local/state/baler" if os.path.isabs(home) else None
