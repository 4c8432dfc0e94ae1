"""A loop of one's own: a context manager to iterate over, and a decorator."""

from __future__ import annotations

import gc
from types import TracebackType
from typing import Any, Callable, Literal, Optional, Type

from . import _native
from ._native import Cycle


#: What a loop does when the work of a cycle runs into the next due time.
Overrun = Literal["skip", "catch-up", "stop"]


def _period_ns(period_ns: Optional[int], rate_hz: Optional[float]) -> int:
    if (period_ns is None) == (rate_hz is None):
        raise TypeError("give a loop either period_ns or rate_hz")
    if period_ns is not None:
        return period_ns
    assert rate_hz is not None
    if not rate_hz > 0:
        raise ValueError(f"a loop has a rate above 0 Hz, not {rate_hz}")
    return round(1e9 / rate_hz)


class Loop(_native.Loop):
    """A periodic loop of the thread that makes it, recorded where ``wakepath record`` started the program.

    ::

        with wakepath.Loop("attitude", rate_hz=250) as loop:
            compute = loop.section("compute", budget_ns=200_000)
            for cycle in loop:
                with compute:
                    ...

    The iteration ends with the recording; without a recorder it never does. While it waits, other threads of
    Python run. Two sections are its own: ``waiting for the GIL``, from a cycle's first instruction until Python
    runs, and ``garbage collection``, where the collector ran within a cycle.

    ``overrun`` is what happens when a cycle's work runs into the next due time: ``"skip"``, which is the default, goes
    on at the next one in the future; ``"catch-up"`` runs the cycles one after the other; ``"stop"`` ends the iteration.

    With ``driven=True`` somebody else's clock begins its cycles, a bus or a camera: each lies between ``begin()`` and
    ``finish()``.
    """

    def __new__(
        cls,
        name: str,
        *,
        period_ns: Optional[int] = None,
        rate_hz: Optional[float] = None,
        driven: bool = False,
        overrun: Optional[Overrun] = None,
    ) -> "Loop":
        return super().__new__(cls, name, _period_ns(period_ns, rate_hz), driven, overrun)

    def __enter__(self) -> "Loop":
        gc.callbacks.append(self.note_collector)
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        gc.callbacks.remove(self.note_collector)
        self.close()


def periodic(
    name: str,
    *,
    period_ns: Optional[int] = None,
    rate_hz: Optional[float] = None,
    overrun: Optional[Overrun] = None,
) -> Callable[[Callable[[Cycle], Any]], Callable[[], None]]:
    """Makes a function of one cycle the whole loop: to call it without arguments runs it until the recording is
    over, and without a recorder for ever.

    ::

        @wakepath.periodic("attitude", rate_hz=250)
        def step(cycle):
            ...

        step()
    """
    period = _period_ns(period_ns, rate_hz)

    def decorated(step: Callable[[Cycle], Any]) -> Callable[[], None]:
        def run() -> None:
            with Loop(name, period_ns=period, overrun=overrun) as loop:
                for cycle in loop:
                    step(cycle)

        run.__name__ = getattr(step, "__name__", name)
        run.__doc__ = step.__doc__
        run.__wrapped__ = step  # type: ignore[attr-defined]
        return run

    return decorated
