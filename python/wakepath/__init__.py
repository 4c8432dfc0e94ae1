"""Real-time loops that wakepath records, and the runs that it made, in Python.

``Loop`` and ``periodic`` are loops of your own, ``prepare`` their thread; ``open_run`` reads a run directory.
"""

from __future__ import annotations

from importlib.util import find_spec as _find_spec

from ._program import program
from ._run import Condition, Run, RunError, Samples, open_run

if _find_spec(f"{__name__}._native") is not None:
    from ._loop import Loop, periodic
    from ._native import Cycle, Error, Section
    from ._policies import CobaltFifo, Deadline, EvlFifo, Fifo, Other, Policy, RoundRobin, prepare
    from ._service import record_service
else:
    # The wheel for every machine brings the program and what reads runs, and no compiled half.
    def __getattr__(name: str) -> object:
        if name in __all__:
            raise ImportError(
                f"wakepath.{name} needs the compiled half of the package, which the wheel for this Python, machine "
                "and C library does not have; build it from the repository: pip install ./python"
            )
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__version__ = "0.1.0"

__all__ = [
    "CobaltFifo",
    "Condition",
    "Cycle",
    "Deadline",
    "Error",
    "EvlFifo",
    "Fifo",
    "Loop",
    "Other",
    "Policy",
    "RoundRobin",
    "Run",
    "RunError",
    "Samples",
    "Section",
    "open_run",
    "periodic",
    "prepare",
    "program",
    "record_service",
]
