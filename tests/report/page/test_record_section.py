from __future__ import annotations

from igsd.report.page.record_groups import RecordGroup
from igsd.report.page.record_section import record_section
from tests.report.record_files import make_record


def test_everything_of_a_record_is_there() -> None:
    more = {"commit": {"id": "c0ffee", "dirty": False}, "versions": {"torch": "2.0"}}
    more |= {"history": [{"epoch": 0, "total": 1.0}, {"epoch": 1, "total": 0.5}]}
    more |= {"notes": ["<note>"], "started": "today", "peak_memory_mib": 7.5}
    records = [
        make_record("MUTAG", "molecules", 0, {"igsd": 0.875}, **more, error=None),
        make_record("MUTAG", "molecules", 1, {}, **more, status="failed", error="<broken>"),
    ]
    made = record_section(RecordGroup("nested/MUTAG/molecules", tuple(records)))
    assert made.startswith('<details id="records/nested/MUTAG/molecules"')
    assert "2 seeds, 1 without a result" in made
    for text in ("c0ffee", "2.0", "87.50 %", "87.5 87.5", "learning_rate", "7.5", "loss"):
        assert text in made
    assert "seed 1: &lt;broken&gt;" in made
    assert "Note: &lt;note&gt;" in made


def test_the_epochs_before_the_labels_have_their_curve() -> None:
    curve = [{"epoch": 0, "total": 4.0}, {"epoch": 1, "total": 3.0}]
    plain = make_record("MUTAG", "igsd-self", 0, {}, history=curve)
    more = make_record("MUTAG", "igsd-self", 1, {}, history=curve, pretraining=curve)
    for records, is_there in ([plain], False), ([plain, more], True):
        made = record_section(RecordGroup("semi/MUTAG/igsd-self", tuple(records)))
        assert "Losses and scores by epoch" in made
        assert ("Self-distillation before the labels" in made) is is_there
        assert "<dt>pretraining" not in made


def test_what_differs_stands_with_its_seed() -> None:
    records = [make_record("A", "social", seed, {}, started=f"at {seed}") for seed in (0, 1)]
    made = record_section(RecordGroup("nested/A/social", tuple(records)))
    assert "<td>at 0</td>" in made
    assert "<dt>seed</dt><dd>0, 1</dd>" in made  # the setting


def test_errors_of_properties_and_a_limit() -> None:
    rows = [{"method": "igsd", "protocol": "qm9", "mae": {"mu": 0.123456}}]
    record = make_record("QM9", "qm9", 0, {}, rows=rows, status="limit", word="OMR")
    made = record_section(RecordGroup("qm9/QM9/igsd", (record,)))
    assert "mu 0.1235" in made
    assert "limit: OMR" in made


def test_the_error_of_one_number() -> None:
    rows = [{"method": "gin", "protocol": "semi", "mae": 0.602427}]
    record = make_record("B3DB", "molecules", 0, {}, rows=rows)
    made = record_section(RecordGroup("semi-logBB/B3DB/gin", (record,)))
    assert "<td>error 0.6024</td>" in made
