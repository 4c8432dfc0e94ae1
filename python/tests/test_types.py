"""The package's types, by mypy, and its version."""

import importlib.util
import os
import pathlib
import re
import subprocess
import sys

import pytest

import wakepath
from wakepath import _native

from conftest import ROOT

PACKAGE = ROOT / "python"


def test_all_of_it_is_typed():
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("no mypy here")
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--cache-dir", os.devnull],
        cwd=PACKAGE,
        capture_output=True,
        encoding="utf-8",
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_the_stubs_name_what_there_is():
    stubs = (pathlib.Path(wakepath.__file__).parent / "_native.pyi").read_text()
    named = set(re.findall(r"^(?:class|def) (\w+)", stubs, re.MULTILINE))
    there = {name for name in vars(_native) if not name.startswith("_")}
    assert named == there
    for of in ("Loop", "Cycle", "Section"):
        body = re.search(rf"^class {of}:\n((?:    .*\n|\n)+)", stubs, re.MULTILINE).group(1)
        members = set(re.findall(r"^    def (\w+)", body, re.MULTILINE)) - {"__new__"}
        ours = {name for name in vars(getattr(_native, of)) if not name.startswith("__")}
        assert {name for name in members if not name.startswith("__")} == ours


def test_versions_are_the_workspaces():
    workspace = re.search(r'^version = "(.+)"$', (ROOT / "Cargo.toml").read_text(), re.MULTILINE).group(1)
    assert wakepath.__version__ == _native.__version__ == workspace
