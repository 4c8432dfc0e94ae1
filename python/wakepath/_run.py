"""Runs on disk: what was measured, read through the Parquet reader that is installed.

A run directory is a manifest and one Parquet file. This reads the manifest itself, and the samples with pyarrow or
polars. Decoding Parquet is the one copy that is made; from there on Arrow, polars, pandas and numpy see the same
memory wherever they can.
"""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional, Sequence, Tuple, Union

from ._program import program

if TYPE_CHECKING:
    import numpy
    import pandas
    import polars
    import pyarrow

#: The newest format of a run directory that this reads.
FORMAT = 2
#: Flag of a sample that belongs to the warm-up, which nobody judges.
WARM_UP = 1

PathLike = Union[str, "os.PathLike[str]"]


class RunError(ValueError):
    """What a directory lacks to be a run that can be read, in one line."""


class Samples:
    """The samples of a run: one for each cycle that ran, sorted by segment, thread and cycle.

    Columns as docs/reference/archive.md has them, among them ``segment``, ``thread``, ``cycle``, ``latency_ns``,
    ``execution_ns`` and ``flags``; one that is 0 in every sample is left out of the file. Whatever takes Arrow's
    C stream takes this: ``polars.DataFrame(run.samples)``, ``pyarrow.table(run.samples)``.
    """

    def __init__(self, path: str) -> None:
        self._path = path

    def __repr__(self) -> str:
        return f"Samples({self._path!r})"

    @property
    def path(self) -> str:
        """The Parquet file."""
        return self._path

    def arrow(self, columns: Optional[Sequence[str]] = None) -> "pyarrow.Table":
        """As a table of pyarrow."""
        try:
            from pyarrow import parquet
        except ImportError as why:
            if _is_there("polars"):
                return self.polars(columns).to_arrow()
            raise ImportError("pyarrow is missing: pip install 'wakepath[arrow]'") from why
        # One file, and no data set of which its directory would be a part.
        names = None if columns is None else list(columns)
        return parquet.ParquetFile(self._path, memory_map=True).read(columns=names)

    def polars(self, columns: Optional[Sequence[str]] = None) -> "polars.DataFrame":
        """As a data frame of polars, by its own reader."""
        try:
            import polars
        except ImportError as why:
            raise ImportError("polars is missing: pip install 'wakepath[polars]'") from why
        names = None if columns is None else list(columns)
        return polars.read_parquet(self._path, columns=names)

    def pandas(self, columns: Optional[Sequence[str]] = None) -> "pandas.DataFrame":
        """As a data frame of pandas whose columns are Arrow's memory."""
        try:
            import pandas
        except ImportError as why:
            raise ImportError("pandas is missing: pip install 'wakepath[pandas]'") from why
        return self.arrow(columns).to_pandas(types_mapper=pandas.ArrowDtype)

    def numpy(self, columns: Optional[Sequence[str]] = None) -> "Dict[str, numpy.ndarray[Any, Any]]":
        """As arrays, one for each column. A run of one row group (262 144 samples of one thread) is not copied; the
        row groups of a longer one are put together first."""
        if _is_there("pyarrow"):
            table = self.arrow(columns)
            found = {}
            for name in table.column_names:
                column = table.column(name)
                chunk = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
                found[name] = chunk.to_numpy(zero_copy_only=True)
            return found
        if _is_there("polars"):
            frame = self.polars(columns)
            return {name: frame[name].to_numpy() for name in frame.columns}
        raise ImportError("neither pyarrow nor polars is here: pip install 'wakepath[arrow]'")

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        whole: Any = self.arrow() if _is_there("pyarrow") else self.polars()
        return whole.__arrow_c_stream__(requested_schema)


@dataclass(frozen=True)
class Condition:
    """One loop under one policy in one phase, over all repetitions."""

    policy: str
    phase: str
    loop: str
    period_ns: int
    _samples: Samples = field(repr=False, compare=False)
    _of: Tuple[Tuple[int, int], ...] = field(repr=False, compare=False)

    def __str__(self) -> str:
        return f"{self.loop}, {self.policy}, {self.phase}"

    def column(self, name: str) -> "numpy.ndarray[Any, Any]":
        """A column of the samples that were judged: those of the warm-up are left out."""
        import numpy

        columns = self._samples.numpy()
        if name not in columns:
            raise KeyError(f"{name}: the samples have {', '.join(columns)}")
        wanted = numpy.zeros(len(columns["cycle"]), dtype=bool)
        for segment, thread in self._of:
            wanted |= (columns["segment"] == segment) & (columns["thread"] == thread)
        if "flags" in columns:
            wanted &= (columns["flags"] & WARM_UP) == 0
        return columns[name][wanted]

    @property
    def latency_ns(self) -> "numpy.ndarray[Any, Any]":
        """Wake-up latencies of the cycles that ran. Due times at which none ran are not among them."""
        return self.column("latency_ns")

    @property
    def execution_ns(self) -> "numpy.ndarray[Any, Any]":
        """From the first instruction of each cycle to its end."""
        return self.column("execution_ns")


@dataclass(frozen=True)
class SectionTimes:
    """What a section of a loop came to after the warm-up, in one segment."""

    loop: str
    segment: int
    name: str
    runs: int
    sum_ns: int
    max_ns: int
    budget_ns: Optional[int]
    over_budget: int


class Run:
    """A run directory."""

    def __init__(self, path: PathLike) -> None:
        self.path: str = os.fspath(path)
        manifest = os.path.join(self.path, "manifest.json")
        try:
            with open(manifest, encoding="utf-8") as file:
                self.manifest: Dict[str, Any] = json.load(file)
        except FileNotFoundError:
            if os.path.exists(os.path.join(self.path, "samples.log")):
                raise RunError(
                    f"{self.path}: the run has not ended, or was cut off; wakepath recover {self.path} makes it readable"
                ) from None
            raise RunError(f"{self.path}: no run is here; give the directory that wakepath said") from None
        except (OSError, ValueError) as why:
            raise RunError(f"{manifest}: {why}") from why
        version = self.manifest.get("format_version")
        if not isinstance(version, int) or not 1 <= version <= FORMAT:
            raise RunError(f"{manifest}: format {version}, and this reads 1 to {FORMAT}: a newer wakepath reads it")
        self.samples = Samples(os.path.join(self.path, "samples.parquet"))

    def __repr__(self) -> str:
        return f"Run({self.path!r})"

    @property
    def id(self) -> str:
        """The run's name, the same on every machine."""
        return str(self.manifest["run_id"])

    @property
    def conditions(self) -> List[Condition]:
        """What was measured, in the order in which it began."""
        found: Dict[Tuple[str, str, str], Tuple[int, List[Tuple[int, int]]]] = {}
        for segment, thread in self._threads():
            key = (segment["condition"], segment["phase"], thread["name"])
            of = found.setdefault(key, (thread["due"]["period_ns"], []))[1]
            of.append((segment["segment"], thread["thread"]))
        return [
            Condition(policy, phase, loop, period_ns, self.samples, tuple(of))
            for (policy, phase, loop), (period_ns, of) in found.items()
        ]

    @property
    def sections(self) -> List[SectionTimes]:
        """What the sections of the loops came to, ``garbage collection`` and ``waiting for the GIL`` among them."""
        return [
            SectionTimes(
                loop=thread["name"],
                segment=segment["segment"],
                name=of["name"],
                runs=of["runs"],
                sum_ns=of["sum_ns"],
                max_ns=of["max_ns"],
                budget_ns=of.get("budget_ns"),
                over_budget=of["over_budget"],
            )
            for segment, thread in self._threads()
            for of in thread.get("modules") or []
        ]

    def results(self) -> Dict[str, Any]:
        """What ``wakepath show --json`` says: the verdict with its evidence, and all figures."""
        command = [program(), "show", "--json", self.path]
        said = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, encoding="utf-8")
        if not said.stdout:
            raise RunError(said.stderr.strip() or f"{command[0]}: ended with {said.returncode}")
        results: Dict[str, Any] = json.loads(said.stdout)
        return results

    @property
    def verdict(self) -> str:
        """``passed``, ``failed``, ``undecided``, ``invalid`` or ``not-judged``."""
        return str(self.results()["outcome"])

    def _threads(self) -> Iterator[Tuple[Dict[str, Any], Dict[str, Any]]]:
        for segment in self.manifest["segments"]:
            for thread in segment["threads"]:
                yield segment, thread


def open_run(path: PathLike) -> Run:
    """Opens a run directory; raises :class:`RunError` where there is none that can be read."""
    return Run(path)


def _is_there(name: str) -> bool:
    try:
        __import__(name)
    except ImportError:
        return False
    return True
