from __future__ import annotations

import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from igsd import __version__
from igsd.errors import ConfigError
from igsd.workers import cluster as clusters
from igsd.workers.cluster import check_address, num_workers, wait_for_listener
from igsd.workers.pools import Workers
from igsd.workers.tasks import run_tasks
from tests.workers.children import DaskProcesses, dask_processes

ADDRESSES = ["foo", "tcp://foo", "tcp://[::1]", "foo:", "foo:x", ":8786", "foo:70000", "a:b:1"]


@pytest.mark.parametrize("address", [*ADDRESSES, "", "http://foo:8787", "nonsense://foo:1"])
def test_an_address_that_is_none(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One without a port was tried for a minute, and ended with a traceback of Dask's."""
    pytest.importorskip("distributed", reason="the extra cluster is not installed")
    monkeypatch.setattr(socket, "create_connection", lambda *to, **options: pytest.fail("tried"))
    with pytest.raises(ConfigError, match="must be SCHEME://HOST:PORT") as error:
        Workers(1, address).size()
    assert repr(address) in str(error.value)


@pytest.mark.parametrize(
    ("address", "place"),
    [("foo:8786", ("foo", 8786)), ("tls://[::1]:1", ("::1", 1)), ("ws://a.b:2", ("a.b", 2))],
)
def test_addresses(address: str, place: tuple[str, int]) -> None:
    pytest.importorskip("distributed", reason="the extra cluster is not installed")
    assert check_address(address) == place


def test_a_scheduler_that_is_just_starting(monkeypatch: pytest.MonkeyPatch) -> None:
    tries: list[object] = []

    def connect(place: object, timeout: float) -> socket.socket:
        tries.append(place)
        if len(tries) < 3:
            raise ConnectionRefusedError
        return socket.socket()

    monkeypatch.setattr(socket, "create_connection", connect)
    wait_for_listener("foo", 8786)
    assert tries == [("foo", 8786)] * 3


@pytest.mark.slow
def test_no_scheduler() -> None:
    pytest.importorskip("distributed", reason="the extra cluster is not installed")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    show = (
        "from igsd.errors import ConfigError\n"
        "from igsd.workers.pools import Workers\n"
        f"try: Workers(1, 'tcp://127.0.0.1:{port}').size()\n"
        "except ConfigError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", show], capture_output=True, text=True, timeout=90)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("There is no Dask scheduler at 'tcp://127.0.0.1:")


class MadeUpClient:
    """Tells the threads of its workers, and their version of igsd."""

    def __init__(self, *threads: int, version: str | None = __version__) -> None:
        self.threads, self.version = threads, version

    def ncores(self) -> dict[str, int]:
        return {f"tcp://worker-{i}": number for i, number in enumerate(self.threads)}

    def get_versions(self, packages: list[str]) -> dict[str, Any]:
        about = {"packages": {packages[0]: self.version}}
        own = {"packages": {packages[0]: __version__}}
        return {"scheduler": own, "workers": dict.fromkeys(self.ncores(), about)}


def test_workers_that_cannot_be_used() -> None:
    assert num_workers(MadeUpClient(1, 1), "tcp://here:1") == 2
    for client, said in (
        (MadeUpClient(), "has no workers"),
        (MadeUpClient(1, 2), "must have one thread"),
        (MadeUpClient(1, version="0.0.7"), "tcp://worker-0 has 0.0.7. Install it there"),
        (MadeUpClient(1, version=None), "tcp://worker-0 has none. Install it there"),
    ):
        with pytest.raises(ConfigError, match=said):
            num_workers(client, "tcp://here:1")


def slow_double(seconds: float, number: int) -> int:
    time.sleep(seconds)
    return 2 * number


@pytest.mark.slow
def test_calls_on_a_cluster_one_of_whose_workers_is_killed(cluster: DaskProcesses) -> None:
    tasks = [(0.3, number) for number in range(12)]
    with Workers(1, cluster.address).pool() as pool:
        assert pool.size == 2
        shared = pool.share(7)
        assert [e.value for e in run_tasks(slow_double, [(0.0, shared)] * 3, pool)] == [14] * 3
        found = []
        for ended in run_tasks(slow_double, tasks, pool, ahead=2):
            found.append(ended.value)
            if len(found) == 3:
                cluster.workers[0].kill()
        assert found == [2 * number for number in range(12)]


def until_killed(cluster: DaskProcesses, victims: list[Any]) -> None:
    """Make calls on a cluster, some of whose processes are killed after the second."""
    with Workers(1, cluster.address).pool() as pool:
        for ended in run_tasks(slow_double, [(0.2, number) for number in range(100)], pool):
            if ended.value == 2:
                for process in victims:
                    process.kill()


@pytest.mark.slow
def test_a_scheduler_that_ends(cluster: DaskProcesses) -> None:
    with pytest.raises(ConfigError, match="has ended, or cannot be reached any more"):
        until_killed(cluster, [cluster.scheduler])


@pytest.mark.slow
def test_all_workers_end(cluster: DaskProcesses, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters, "_LONGEST_WITHOUT", 2.0)
    with pytest.raises(ConfigError, match="has lost all its workers"):
        until_killed(cluster, cluster.workers)


def absolute(address: str) -> list[int]:
    with Workers(1, address).pool() as pool:
        return [ended.value for ended in run_tasks(abs, [(-1,)], pool)]


@pytest.mark.slow
def test_workers_with_an_igsd_that_is_too_old(tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="the extra cluster is not installed")
    package = tmp_path / "other" / "igsd"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text('__version__ = "0.0.7"\n')
    with (
        dask_processes(tmp_path, 1, PYTHONPATH=str(package.parent)) as processes,
        pytest.raises(ConfigError, match=r"cannot import igsd\.workers: install igsd"),
    ):
        absolute(processes.address)
