from __future__ import annotations

import time
from pathlib import Path

import pytest

from igsd.errors import DataError
from igsd.graphs.download import download
from tests.graphs.web_server import serving


def test_whole_file_and_progress(tmp_path: Path) -> None:
    content = bytes(range(256)) * 9000
    seen: list[tuple[int, int | None]] = []
    with serving({"/x": content, "/moved": b"redirect:/x"}) as address:
        for page in ("x", "moved"):
            download(f"{address}/{page}", tmp_path / page, progress=lambda *step: seen.append(step))
            assert (tmp_path / page).read_bytes() == content
    assert seen[-1] == (len(content), len(content))
    assert len(seen) >= 4


@pytest.mark.parametrize(
    ("page", "missing", "message"),
    [
        ("/absent", 0, "404"),
        ("/x", 10, "transfer"),
        ("/x", 0, "larger than 50 bytes"),
        ("/moved", 0, "must begin with https"),
    ],
)
def test_failures_leave_nothing(tmp_path: Path, page: str, missing: int, message: str) -> None:
    pages = {"/x": b"x" * 100, "/moved": b"redirect:http://example.invalid/x"}
    limit = 50 if message.startswith("larger") else 1000
    with (
        serving(pages, missing_bytes=missing) as address,
        pytest.raises(DataError, match=message),
    ):
        download(address + page, tmp_path / "out", max_bytes=limit)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("page", ["/drips", "/drips-header"])
def test_a_server_that_sends_a_byte_now_and_then(tmp_path: Path, page: str) -> None:
    """A timeout of the socket starts again with every byte."""
    with serving({page: b"x" * 1000}) as address:
        start = time.monotonic()
        with pytest.raises(DataError, match=r"not downloaded after 0.5 seconds, the limit"):
            download(address + page, tmp_path / "out", max_seconds=0.5)
        assert time.monotonic() - start < 5
    assert list(tmp_path.iterdir()) == []


def test_address_that_cannot_be_reached(tmp_path: Path) -> None:
    with serving({}) as address:
        pass
    with pytest.raises(DataError, match="cannot be downloaded"):
        download(f"{address}/x", tmp_path / "out", timeout=2)


@pytest.mark.parametrize("url", ["http://example.invalid/x", "file:///etc/hosts", "ftp://x/y"])
def test_only_https(tmp_path: Path, url: str) -> None:
    with pytest.raises(DataError, match="must begin with https"):
        download(url, tmp_path / "out")
