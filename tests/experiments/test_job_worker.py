from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from igsd.experiments import job_worker
from igsd.experiments.job import Job
from igsd.experiments.job_worker import work_on
from tests.experiments.small_exhibit import jobs_of, write_data


def test_one_thread_and_the_settings_of_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    seen = []

    def look(job: Job) -> list[Any]:
        seen.append((torch.get_num_threads(), os.environ["MKL_NUM_THREADS"]))
        return []

    monkeypatch.setattr(job_worker, "execute", look)
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    before = torch.get_num_threads()
    work_on(jobs_of("toy", tmp_path, 1)[0])
    assert seen == [(1, "1")]
    assert torch.get_num_threads() == before
    assert "MKL_NUM_THREADS" not in os.environ


def test_a_job_that_has_ended_two_processes_is_failed(tmp_path: Path) -> None:
    (job,) = jobs_of(write_data(tmp_path), tmp_path, 1)
    marker = job.path_of(0).with_name(".seed-0.json.running")
    marker.parent.mkdir(parents=True)
    marker.write_bytes(b"\n..")
    (record,) = work_on(job)[1]
    assert record["status"] == "failed"
    assert "ended from outside" in record["error"]
    assert not marker.exists()
