from __future__ import annotations

import socket

import pytest

from igsd.errors import ConfigError
from igsd.experiments.workers import Workers, num_workers


def test_processes_of_this_machine() -> None:
    assert num_workers(Workers(3)) == 3


def test_no_scheduler() -> None:
    pytest.importorskip("distributed", reason="the extra cluster is not installed")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with pytest.raises(ConfigError, match="no Dask scheduler at"):
        num_workers(Workers(1, f"tcp://127.0.0.1:{port}"))
