"""What the tests share: the program under test, and recordings by it."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

import wakepath

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = pathlib.Path(wakepath.__file__).resolve().parent.parent


def binary() -> str:
    """The program that ``WAKEPATH_BINARY`` names, or the installed one."""
    named = os.environ.get("WAKEPATH_BINARY")
    if named:
        return named
    try:
        return wakepath.program()
    except FileNotFoundError as why:
        pytest.skip(str(why))


@pytest.fixture
def record(tmp_path):
    """Records a file of Python, idle; the run directory and what was said."""

    def recorded(script: pathlib.Path, duration: str = "2s"):
        directory = tmp_path / "run"
        command = [binary(), "record", "--idle", "--no-tui", "--json", "--duration", duration]
        command += ["--directory", str(directory), "--", sys.executable, str(script)]
        # The interpreter that runs the tests runs the loop, with the package under test.
        environment = {**os.environ, "PYTHONPATH": str(PACKAGE)}
        said = subprocess.run(command, capture_output=True, encoding="utf-8", env=environment, cwd=tmp_path)
        assert said.returncode in (0, 2, 3), said.stderr
        return directory, json.loads(said.stdout)

    return recorded


@pytest.fixture
def record_text(record, tmp_path):
    """As ``record``, for a text."""

    def recorded(text: str, duration: str = "2s"):
        script = tmp_path / "my_loop.py"
        script.write_text(text)
        return record(script, duration)

    return recorded
