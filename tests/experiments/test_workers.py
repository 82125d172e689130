from __future__ import annotations

import socket
import subprocess
import sys

import pytest

from igsd.errors import ConfigError
from igsd.experiments import workers
from igsd.experiments.workers import Workers, check_address, num_workers


def test_processes_of_this_machine() -> None:
    assert num_workers(Workers(3)) == 3


ADDRESSES = ["foo", "tcp://foo", "tcp://[::1]", "foo:", "foo:x", ":8786", "foo:70000", "a:b:1"]


@pytest.mark.parametrize("address", [*ADDRESSES, "", "http://foo:8787", "nonsense://foo:1"])
def test_an_address_that_is_none(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One without a port was tried for a minute, and ended with a traceback of Dask's."""
    pytest.importorskip("distributed", reason="the extra cluster is not installed")
    monkeypatch.setattr(socket, "create_connection", lambda *to, **options: pytest.fail("tried"))
    with pytest.raises(ConfigError, match="must be SCHEME://HOST:PORT") as error:
        num_workers(Workers(1, address))
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
    workers._wait_for_listener("foo", 8786)
    assert tries == [("foo", 8786)] * 3


@pytest.mark.slow
def test_no_scheduler() -> None:
    pytest.importorskip("distributed", reason="the extra cluster is not installed")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    show = (
        "from igsd.errors import ConfigError\n"
        "from igsd.experiments.workers import Workers, num_workers\n"
        f"try: num_workers(Workers(1, 'tcp://127.0.0.1:{port}'))\n"
        "except ConfigError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", show], capture_output=True, text=True, timeout=90)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("There is no Dask scheduler at 'tcp://127.0.0.1:")


class MadeUpClient:
    """Tells the threads of its workers."""

    def __init__(self, *threads: int) -> None:
        self.threads = threads

    def ncores(self) -> dict[str, int]:
        return {f"tcp://worker-{i}": number for i, number in enumerate(self.threads)}


def test_workers_that_cannot_be_used() -> None:
    assert len(workers._checked(MadeUpClient(1, 1), "tcp://here:1")) == 2
    for client, said in (
        (MadeUpClient(), "has no workers"),
        (MadeUpClient(1), "has one worker, and joblib would make all runs in this process"),
        (MadeUpClient(1, 2), "must have one thread"),
    ):
        with pytest.raises(ConfigError, match=said):
            workers._checked(client, "tcp://here:1")
