from __future__ import annotations

import re
import subprocess
from typing import Any

import pytest

from igsd.experiments import environment


def test_versions_name_what_decides_a_number() -> None:
    found = environment.versions()
    assert {"python", "igsd", "torch", "numpy", "sklearn"} <= found.keys()
    assert all(found.values())


def test_no_commit_without_git(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*args: Any, **kwargs: Any) -> None:
        raise FileNotFoundError("git")

    monkeypatch.setattr(subprocess, "run", missing)
    assert environment.commit() == {"id": None, "dirty": None}


def test_commit_and_whether_the_source_was_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = {"rev-parse": "a" * 40, "status": " M file.py"}
    monkeypatch.setattr(environment, "_git", lambda folder, word, *rest: answers[word])
    assert environment.commit() == {"id": "a" * 40, "dirty": True}
    answers["status"] = ""
    assert environment.commit()["dirty"] is False


def test_time() -> None:
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", environment.now())


def test_stopwatch() -> None:
    watch = environment.Stopwatch()
    sum(range(2_000_000))
    watch.lap("first")
    watch.lap("second")
    assert 0 <= watch.seconds["second"] < watch.seconds["first"]
    assert 0 < watch.cpu_seconds < 60


@pytest.mark.parametrize(
    ("variables", "is_main"),
    [
        ({}, True),
        ({"RANK": "0", "LOCAL_RANK": "0"}, True),
        ({"RANK": "2", "LOCAL_RANK": "0"}, False),
        ({"LOCAL_RANK": "1"}, False),
        ({"LOCAL_RANK": "0", "NODE_RANK": "1"}, False),
    ],
)
def test_only_the_first_process_writes(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], is_main: bool
) -> None:
    for key in ("RANK", "LOCAL_RANK", "NODE_RANK"):
        monkeypatch.delenv(key, raising=False)
    for key, value in variables.items():
        monkeypatch.setenv(key, value)
    assert environment.is_main_process() is is_main
