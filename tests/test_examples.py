"""The notebooks in examples/ run from top to bottom, and are stored without output."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import pytest
import torch

from igsd import IGSD
from igsd.graphs.graphset import GraphSet
from tests.small_graphs import make_graphs

EXAMPLES = Path(__file__).parents[1] / "examples"
NOTEBOOKS = {
    "comparing_methods": "random labels",
    "molecules": "of the hidden labels",
    "social_networks": "3-regular graphs",
}
NEEDS = {"molecules": "rdkit"}


def cells(name: str) -> list[dict[str, Any]]:
    return json.loads((EXAMPLES / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]


@pytest.fixture
def small() -> GraphSet:
    return make_graphs(10)


def test_every_notebook_is_tested() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.ipynb")} == set(NOTEBOOKS)
    assert {path.name for path in EXAMPLES.glob("*.py")} == {"assemble.py"}


def test_the_step_from_parts_gives_the_weights_of_fit(small: GraphSet) -> None:
    path = EXAMPLES / "assemble.py"
    assert len(path.read_text().splitlines()) <= 60
    example = runpy.run_path(str(path))
    student, teacher = example["train"](small, epochs=3, batch_size=4, seed=5)
    model = IGSD(recipe=None, epochs=3, batch_size=4, random_state=5).fit(small).model_
    for ours, theirs in ((student, model.student), (teacher, model.teacher)):
        found, expected = ours.state_dict(), theirs.state_dict()
        assert found.keys() == expected.keys()
        assert all(torch.equal(found[name], expected[name]) for name in expected)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_notebooks_begin_with_a_title_and_have_no_output(name: str) -> None:
    first, *others = cells(name)
    assert first["cell_type"] == "markdown"
    assert first["source"][0].startswith("# ")
    for cell in others:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None


@pytest.mark.slow
@pytest.mark.parametrize(("name", "says"), NOTEBOOKS.items())
def test_notebooks_run(
    name: str,
    says: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if name in NEEDS:
        pytest.importorskip(NEEDS[name], reason=f"{name}.ipynb needs an extra")
    import matplotlib

    matplotlib.use("agg")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("matplotlib.pyplot.show", lambda: None)
    session: dict[str, object] = {"__name__": "__main__"}
    for place, cell in enumerate(cells(name)):
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), f"{name}.ipynb, cell {place}", "exec"), session)
    assert says in capsys.readouterr().out
