"""A recorder that stays beside this program, for months in the field."""

from __future__ import annotations

import os
from typing import Optional, Union

from . import _native
from ._program import program


def record_service(
    directory: Union[str, "os.PathLike[str]"],
    *,
    criterion: Optional[str] = None,
    keep: Optional[str] = None,
    worst: Optional[int] = None,
    metrics: Optional[Union[str, int]] = None,
    trace: bool = False,
    trust_directory: bool = False,
    recorder: Optional[Union[str, "os.PathLike[str]"]] = None,
) -> bool:
    """Starts wakepath's recorder beside this program, as ``wakepath record --service`` does from outside.

    Call it before ``prepare``. Loops that are made afterwards are recorded into ``directory`` for as long as the program
    runs. True when the recorder is there now, False where somebody records this program already, such as ``wakepath
    record`` on the bench. ``Error`` says in one line why nobody does; the loops run all the same.
    """
    if recorder is None:
        try:
            recorder = program()
        except FileNotFoundError as why:
            raise _native.Error(str(why)) from None
    return _native.record_service(
        os.fspath(directory),
        criterion,
        keep,
        worst,
        None if metrics is None else str(metrics),
        trace,
        trust_directory,
        os.fspath(recorder),
    )
