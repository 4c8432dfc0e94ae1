"""Runs, read: the same figures whichever library reads them."""

import json
import os
import pathlib

import pytest

import wakepath
from conftest import ROOT, binary

RUNS = ROOT / "fixtures/runs"


@pytest.fixture
def run():
    found = sorted(RUNS.glob("**/manifest.json"))
    for manifest in found:
        if (manifest.parent / "samples.parquet").exists():
            return wakepath.open_run(manifest.parent)
    raise AssertionError(f"no run in {RUNS}")


def exported(run):
    """What the program itself makes of the samples."""
    import csv
    import subprocess

    said = subprocess.run(
        [binary(), "export", "--format", "csv", run.path], capture_output=True, encoding="utf-8", check=True
    )
    lines = [line for line in said.stdout.splitlines() if not line.startswith("#")]
    return list(csv.DictReader(lines))


def test_a_run_says_what_was_measured(run):
    assert run.id == run.manifest["run_id"]
    assert run.conditions
    for condition in run.conditions:
        assert condition.loop and condition.phase and condition.period_ns > 0


def test_numpy_has_what_the_program_exports(run):
    numpy = pytest.importorskip("numpy")
    try:
        columns = run.samples.numpy()
    except ImportError as why:
        pytest.skip(str(why))
    rows = exported(run)
    assert len(columns["cycle"]) == len(rows) > 0
    for name in ("cycle", "latency_ns"):
        assert columns[name].tolist() == [int(row[name]) for row in rows]
    # Nothing is copied: the memory is the reader's.
    assert not columns["latency_ns"].flags.owndata
    assert columns["latency_ns"].dtype == numpy.int64
    judged = sum(len(condition.latency_ns) for condition in run.conditions)
    assert judged == int((columns["flags"] & 1 == 0).sum())


def test_arrow_polars_and_pandas_have_the_same(run):
    pytest.importorskip("pyarrow")
    table = run.samples.arrow()
    latency = table.column("latency_ns").to_pylist()
    assert run.samples.arrow(["cycle"]).column_names == ["cycle"]
    pandas = pytest.importorskip("pandas")
    frame = run.samples.pandas()
    assert frame["latency_ns"].tolist() == latency
    assert isinstance(frame["latency_ns"].dtype, pandas.ArrowDtype)
    polars = pytest.importorskip("polars")
    assert run.samples.polars()["latency_ns"].to_list() == latency
    # Through Arrow's C stream, without a word about wakepath on the other side.
    assert polars.DataFrame(run.samples)["latency_ns"].to_list() == latency


def test_polars_alone_is_enough(run, monkeypatch):
    pytest.importorskip("polars")
    monkeypatch.setattr("wakepath._run._is_there", lambda name: name == "polars")
    assert len(run.samples.numpy()["latency_ns"]) > 0


def test_figures_are_drawn(run):
    matplotlib = pytest.importorskip("matplotlib")
    pytest.importorskip("pyarrow")
    matplotlib.use("agg")
    from wakepath import plot

    for figure in (plot.over_time, plot.histogram, plot.exceedance):
        axes = figure(run)
        assert "wake-up latency, µs" in (axes.get_xlabel(), axes.get_ylabel())
        labels = [text.get_text() for text in axes.get_legend().get_texts()]
        assert labels == [str(condition) for condition in run.conditions]


def test_the_verdict_is_the_programs(run, monkeypatch):
    monkeypatch.setenv("PATH", f"{pathlib.Path(binary()).parent}{os.pathsep}{os.environ['PATH']}")
    assert run.verdict == run.results()["outcome"] in ("passed", "failed", "undecided", "invalid", "not-judged")


def test_what_is_no_run_is_refused_in_one_line(tmp_path):
    def refused():
        with pytest.raises(wakepath.RunError) as why:
            wakepath.open_run(tmp_path)
        assert "\n" not in str(why.value)
        return str(why.value)

    assert "no run is here" in refused()
    (tmp_path / "samples.log").write_bytes(b"")
    assert f"wakepath recover {tmp_path}" in refused()
    manifest = tmp_path / "manifest.json"
    manifest.write_text("{")
    assert "manifest.json" in refused()
    manifest.write_text(json.dumps({"format_version": 99}))
    assert "format 99, and this reads 1 to 2" in refused()
