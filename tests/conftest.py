"""Fixtures of all tests: nothing is cached in the user's folders, and there is one thread."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Iterator
from pathlib import Path

# Before anything imports torch: tests run in parallel processes, more threads only get in the way.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest

from igsd.graphs.graphset import GraphSet
from tests.small_graphs import make_graphs, odd_graphs
from tests.workers.children import DaskProcesses, dask_processes


def pytest_configure(config: pytest.Config) -> None:
    # A shell script that starts the tests in the background makes them, and all that they start,
    # ignore Ctrl-C, which some of them send.
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    text = "run the files, and the tests of each file, in a random order"
    parser.addoption("--shuffle", type=int, metavar="SEED", help=text)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if (seed := config.getoption("--shuffle")) is not None:
        rng = random.Random(seed)
        rng.shuffle(items)
        order = dict.fromkeys(item.path for item in items)
        places = {path: place for place, path in enumerate(order)}
        items.sort(key=lambda item: places[item.path])


@pytest.fixture(autouse=True, scope="session")
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Keep cached data sets and views of a test run in a folder of its own."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IGSD_CACHE", str(folder))
        yield folder


@pytest.fixture(scope="session")
def graphs() -> GraphSet:
    """Ten small graphs with node labels."""
    return make_graphs()


@pytest.fixture(scope="session")
def odd() -> GraphSet:
    """One-node, edgeless and partly isolated graphs."""
    return odd_graphs()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[DaskProcesses]:
    """Start a Dask scheduler and two workers."""
    pytest.importorskip("distributed", reason="the extra cluster is not installed")
    with dask_processes(tmp_path) as processes:
        yield processes
