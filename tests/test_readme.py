"""The Python snippets of the README run, from top to bottom, as one session."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from igsd.experiments.exhibit import exhibit_names

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
SNIPPET = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def snippets(text: str) -> list[tuple[int, str]]:
    """Return (line, code) of every ```python block."""
    return [(text[: m.start()].count("\n") + 2, m[1]) for m in SNIPPET.finditer(text)]


def test_blocks_are_found() -> None:
    text = "a\n```python\nx = 1\n```\nb\n```sh\nls\n```\n```python\ny = x\n```\n"
    assert snippets(text) == [(3, "x = 1\n"), (10, "y = x\n")]


def test_every_table_and_figure_is_named() -> None:
    text = README.read_text()
    assert [name for name in exhibit_names() if not re.search(rf"[` ]{name}`", text)] == []


@pytest.mark.slow
@pytest.mark.skipif(not README.exists(), reason="there is no README.md yet")
def test_readme_snippets_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = snippets(README.read_text())
    assert blocks, "README.md shows no Python"
    monkeypatch.chdir(tmp_path)
    session: dict[str, object] = {"__name__": "__main__"}
    for line, code in blocks:
        # Blank lines in front, so that a traceback names the line of the README.
        exec(compile("\n" * (line - 1) + code, str(README), "exec"), session)
