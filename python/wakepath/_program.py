"""Where the program ``wakepath`` is: beside this package, or on the path."""

from __future__ import annotations

import os
import shutil
import sysconfig


def program() -> str:
    """The path of the program ``wakepath``; raises FileNotFoundError where there is none."""
    beside = os.path.join(sysconfig.get_path("scripts"), "wakepath")
    if os.access(beside, os.X_OK):
        return beside
    found = shutil.which("wakepath")
    if found is None:
        raise FileNotFoundError("no program wakepath, neither beside this Python nor on the path")
    return found
