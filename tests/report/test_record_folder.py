from __future__ import annotations

from pathlib import Path

import pytest

from igsd.errors import IGSDWarning
from igsd.experiments import ALGORITHM
from igsd.experiments.runs import Run
from igsd.report.record_folder import RecordFolder, fresh
from tests.report.record_files import make_record, write

RUN = Run("nested", "MUTAG", "igsd", "molecules", 0)


def test_a_folder_of_records(tmp_path: Path) -> None:
    write(tmp_path, make_record("MUTAG", "molecules", 3, {"igsd": 0.9}))
    write(tmp_path, make_record("MUTAG", "molecules", 0, {"igsd": 0.9}))
    folder = RecordFolder(tmp_path)
    assert [path for path, _ in folder.of(RUN)] == [
        "nested/MUTAG/molecules/seed-0.json",
        "nested/MUTAG/molecules/seed-3.json",
    ]
    assert folder.of(Run("nested", "PTC", "igsd", "molecules", 0)) == []
    (tmp_path / "nested/MUTAG/molecules/seed-4.json").write_text("[]")
    with pytest.warns(IGSDWarning, match=r"seed-4\.json is not a record"):
        assert len(RecordFolder(tmp_path).of(RUN)) == 2


def test_records_of_another_version_are_not_fresh() -> None:
    new, old = (make_record("MUTAG", "molecules", 0, {}, algorithm=a) for a in (ALGORITHM, 0))
    assert fresh([("a", old), ("b", new)]) == [("b", new)]
