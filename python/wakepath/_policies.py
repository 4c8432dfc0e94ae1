"""Scheduling policies, each with what belongs to it and nothing else, and the thread that gets one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import List, Optional, Sequence, Union

from . import _native


@dataclass(frozen=True)
class Other:
    """SCHED_OTHER, the default. ``nice``: -20 (most favoured) to 19."""

    nice: int = 0
    cpus: Optional[Sequence[int]] = None


@dataclass(frozen=True)
class Fifo:
    """SCHED_FIFO. ``priority``: 1 (lowest) to 99."""

    priority: int
    cpus: Optional[Sequence[int]] = None


@dataclass(frozen=True)
class RoundRobin:
    """SCHED_RR. ``priority``: 1 (lowest) to 99."""

    priority: int
    cpus: Optional[Sequence[int]] = None


@dataclass(frozen=True)
class EvlFifo:
    """FIFO on EVL, the core of Xenomai 4. ``priority``: 1 (lowest) to 99."""

    priority: int
    cpus: Optional[Sequence[int]] = None


@dataclass(frozen=True)
class CobaltFifo:
    """FIFO on Cobalt, the core of Xenomai 3. ``priority``: 1 (lowest) to 99."""

    priority: int
    cpus: Optional[Sequence[int]] = None


@dataclass(frozen=True)
class Deadline:
    """SCHED_DEADLINE. It runs on its whole root domain: it has neither a priority nor CPUs."""

    runtime_ns: int
    deadline_ns: int
    period_ns: int


Policy = Union[Other, Fifo, RoundRobin, EvlFifo, CobaltFifo, Deadline]


def prepare(policy: Policy = Other(), *, lock_memory: bool = True) -> List[str]:
    """Prepares the calling thread for its loop: memory locked, CPUs, timer slack, the policy last.

    Each is read back from the kernel. Returns what a loop can live with, a line each; raises
    :class:`wakepath.Error` where policy or CPUs can't be had. Import and allocate what the loop needs before.
    """
    if isinstance(policy, Deadline):
        return _native.prepare_deadline(policy.runtime_ns, policy.deadline_ns, policy.period_ns, lock_memory)
    if not isinstance(policy, (Other, Fifo, RoundRobin, EvlFifo, CobaltFifo)):
        known = "wakepath.Other, Fifo, RoundRobin, EvlFifo, CobaltFifo or Deadline"
        raise TypeError(f"{policy!r} is not a policy: give {known}")
    cpus = None if policy.cpus is None else list(policy.cpus)
    if isinstance(policy, Other):
        return _native.prepare_other(policy.nice, cpus, lock_memory)
    if isinstance(policy, Fifo):
        return _native.prepare_fifo(policy.priority, cpus, lock_memory)
    if isinstance(policy, EvlFifo):
        return _native.prepare_evl_fifo(policy.priority, cpus, lock_memory)
    if isinstance(policy, CobaltFifo):
        return _native.prepare_cobalt_fifo(policy.priority, cpus, lock_memory)
    return _native.prepare_round_robin(policy.priority, cpus, lock_memory)
