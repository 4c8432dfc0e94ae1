from typing import Any, List, Literal, Optional, Type, TypeVar

_L = TypeVar("_L", bound="Loop")

__version__: str

class Error(Exception):
    """Something isn't available; the reason in one line."""

class Cycle:
    """A cycle: which due time it serves, when that was, and when its first instruction ran.

    Instants are nanoseconds on CLOCK_MONOTONIC, that of ``time.monotonic_ns``.
    """

    @property
    def number(self) -> int: ...
    @property
    def due_ns(self) -> int: ...
    @property
    def wake_ns(self) -> int: ...
    @property
    def latency_ns(self) -> int:
        """First instruction - due time."""

class Section:
    """A timed part of a loop's cycle: ``with section: ...``."""

    @property
    def name(self) -> str: ...
    def __enter__(self) -> None: ...
    def __exit__(self, _kind: object, _error: object, _trace: object) -> bool: ...

class Loop:
    def __new__(
        cls: Type[_L], name: str, period_ns: int, driven: bool = False, overrun: Optional[Literal["skip", "catch-up", "stop"]] = None
    ) -> _L: ...
    def __iter__(self: _L) -> _L: ...
    def __next__(self) -> Cycle: ...
    def wait(self) -> Optional[Cycle]:
        """Ends the cycle under way and waits for the next due time; None when the recording is over."""

    def finish(self) -> None:
        """Ends the cycle under way, if one is."""

    def begin(self, due_ns: Optional[int] = None) -> Optional[Cycle]:
        """Begins a cycle of a loop made with ``driven=True``, now; None when the recording is over. ``due_ns``: when
        it was due, on the clock of ``time.monotonic_ns``; without it, it is estimated."""

    def value(self, name: str, value: float) -> None:
        """Says a value of this cycle: a height, a duty, a count."""

    def log(self, format: str, *values: object) -> None:
        """Says a line in the loop's log: ``loop.log("height {:.2f} of {}", height, name)``. The values (8 at most:
        int, float, bool, str) are copied, and formatted where the run is recorded. A loop knows 128 formats and names
        of values: give what changes as values, not as an f-string."""

    def close(self) -> None:
        """Gives the loop up."""

    def section(self, name: str, budget_ns: int = 0) -> Section:
        """A part of the cycle that is timed, with the longest that it should take; 0: no such time. Before the
        first cycle. The same name is the same section; beyond 16, two of which are the loop's own, and where
        nobody records, nothing is timed."""

    def note_collector(self, phase: str, _about: Any) -> None: ...
    @property
    def name(self) -> str: ...
    @property
    def period_ns(self) -> int: ...
    @property
    def skipped(self) -> int:
        """Due times at which no cycle ran, because the one before took too long."""

    @property
    def is_recorded(self) -> bool:
        """Whether a recorder has the loop's samples."""

def prepare_other(nice: int, cpus: Optional[List[int]], lock_memory: bool) -> List[str]: ...
def prepare_fifo(priority: int, cpus: Optional[List[int]], lock_memory: bool) -> List[str]: ...
def prepare_round_robin(priority: int, cpus: Optional[List[int]], lock_memory: bool) -> List[str]: ...
def prepare_evl_fifo(priority: int, cpus: Optional[List[int]], lock_memory: bool) -> List[str]: ...
def prepare_cobalt_fifo(priority: int, cpus: Optional[List[int]], lock_memory: bool) -> List[str]: ...
def prepare_deadline(runtime_ns: int, deadline_ns: int, period_ns: int, lock_memory: bool) -> List[str]: ...
def record_service(
    directory: str,
    criterion: Optional[str],
    keep: Optional[str],
    worst: Optional[int],
    metrics: Optional[str],
    trace: bool,
    trust_directory: bool,
    recorder: str,
) -> bool: ...
