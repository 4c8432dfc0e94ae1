"""Figures of a run for notebooks, with matplotlib. Each function draws into the axes that it is given, or into new
ones, and returns them. The report has the same figures and more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

from ._run import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def _axes(axes: "Optional[Axes]") -> "Axes":
    if axes is not None:
        return axes
    try:
        from matplotlib import pyplot
    except ImportError as why:
        raise ImportError("matplotlib is missing: pip install 'wakepath[plot]'") from why
    return pyplot.subplots(figsize=(8, 4.5))[1]


def over_time(run: Run, axes: "Optional[Axes]" = None) -> "Axes":
    """The wake-up latency of each judged cycle over its due time, from the beginning of its segment."""
    axes = _axes(axes)
    for condition in run.conditions:
        seconds = condition.column("cycle") * (condition.period_ns / 1e9)
        axes.plot(seconds, condition.latency_ns / 1e3, ".", markersize=2, label=str(condition))
    axes.set_xlabel("due time in its segment, s")
    return _with_latency(axes, "y")


def histogram(run: Run, axes: "Optional[Axes]" = None, bins: int = 100) -> "Axes":
    """How often which wake-up latency came, on a logarithmic scale so that a single late cycle is seen."""
    axes = _axes(axes)
    for condition in run.conditions:
        axes.hist(condition.latency_ns / 1e3, bins=bins, histtype="step", label=str(condition))
    axes.set_yscale("log")
    axes.set_ylabel("cycles")
    return _with_latency(axes, "x")


def exceedance(run: Run, axes: "Optional[Axes]" = None) -> "Axes":
    """The share of judged cycles with a wake-up latency above each value, both scales logarithmic. Due times at
    which no cycle ran are not in it."""
    import numpy

    axes = _axes(axes)
    for condition in run.conditions:
        latency = numpy.sort(condition.latency_ns / 1e3)
        share: Any = 1.0 - numpy.arange(len(latency)) / len(latency)
        axes.step(numpy.maximum(latency, 1e-3), share, where="post", label=str(condition))
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_ylabel("share of cycles above")
    return _with_latency(axes, "x")


def _with_latency(axes: "Axes", of: str) -> "Axes":
    axes.set(**{f"{of}label": "wake-up latency, µs"})
    axes.legend(loc="best", fontsize="small")
    axes.grid(alpha=0.3)
    return axes
