"""``PaperCell``: what the records of one method on one data set say, beside what was printed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from igsd.errors import ConfigError
from igsd.evaluation import PROTOCOLS
from igsd.experiments.estimates import run_seconds
from igsd.experiments.exhibit import ACCURACY, Printed
from igsd.experiments.identity import Identity
from igsd.experiments.method_plan import scored_by
from igsd.experiments.records import Record
from igsd.experiments.runs import Run
from igsd.experiments.scoring import Scoring
from igsd.report.record_folder import Found, fresh
from igsd.report.result_cell import mean_and_std

OK, NOT_RUN, STALE, FAILED, LIMIT, NONE = "ok", "not run", "stale", "failed", "limit", "none"
"""How the runs behind a cell stand. ``stale``: made by another version of the algorithm; ``none``:
there is nothing to measure, e.g. without twins on a data set that has none."""


@dataclass(frozen=True)
class PaperCell:
    """Our result and the paper's: per cent, ratios (``digits`` 2) or another figure (3).

    ``mean`` and ``std_over_seeds`` (None for one seed), ``std_over_folds`` over all folds of all
    seeds; None without a result. ``word`` stands in their place then: not run, failed, OMR, > limit
    or -. ``notes`` qualify the result: stale, fewer seeds than wanted, failed seeds, other
    settings. ``spread``: which deviation is printed, that over ``seeds`` or over ``folds``.
    ``shows_best``: whether the best seed is told too. ``by_seed``: (seed, mean over its folds).
    ``seconds``: the mean time of a run. ``printed_by``: what stands before the printed figure, as
    ``Exhibit`` has it. ``records``: the paths of the records, inside their folder.
    """

    status: str
    word: str = ""
    mean: float | None = None
    std_over_seeds: float | None = None
    std_over_folds: float | None = None
    num_seeds: int = 0
    spread: str = "seeds"
    digits: int = 1
    shows_best: bool = False
    by_seed: tuple[tuple[int, float], ...] = ()
    notes: tuple[str, ...] = ()
    seconds: float | None = None
    printed: Printed | None = None
    printed_by: str = "paper"
    records: tuple[str, ...] = ()

    @property
    def std(self) -> float | None:
        """The deviation that is printed."""
        return self.std_over_folds if self.spread == "folds" else self.std_over_seeds

    @property
    def best_text(self) -> str:
        """The best seed where it is to be told, otherwise empty."""
        if not self.shows_best or self.num_seeds < 2:
            return ""
        return f"best {max(value for _, value in self.by_seed):.{self.digits}f}"

    @property
    def difference(self) -> float | None:
        """Ours less the paper's, None where either has no figure."""
        if self.mean is None or self.printed is None or self.printed.mean is None:
            return None
        return self.mean - self.printed.mean

    @property
    def text(self) -> str:
        """Our side: ``90.2 ± 0.7 (3 of 5 seeds)``, or the word, with its notes."""
        result = self.word
        if self.mean is not None:
            result = mean_and_std(self.mean, self.std, self.digits)
        notes = [note for note in (self.best_text, *self.notes) if note]
        return f"{result} ({', '.join(notes)})" if notes else result

    @property
    def printed_text(self) -> str:
        """The paper's side, empty where it printed nothing."""
        if self.printed is None:
            return ""
        if self.printed.mean is None:
            return self.printed.word or ""
        return mean_and_std(self.printed.mean, self.printed.std)


def row_figures(record: Record, shows: str, protocol: str, metric: str) -> list[float] | None:
    """Return what one row of a record says: the accuracy in per cent of each fold, or ``metric``.

    None without the row.
    """
    for row in record["rows"]:
        if row["method"] == shows and row["protocol"] == protocol:
            values = row["accuracies"] if metric == ACCURACY else [row[metric]]
            return [100 * value for value in values] if metric == ACCURACY else values
    return None


def make_cell(
    found: Sequence[Found],
    run: Run,
    values: Mapping[int, list[float]],
    *,
    wanted: int,
    **about: Any,
) -> PaperCell:
    """Return what records of a run say.

    ``values``: the results of the folds, by seed, of the records that have any. The mean never
    mixes versions of the algorithm or settings: stale records, and those of other settings, count
    only where there are no others. ``wanted``
    seeds are needed for a cell without a note about them. ``about``: the rest of the cell.
    """
    used, notes = _used(found, run)
    records = [record for _, record in used]
    good = [record for record in records if record["status"] == "ok"]
    about |= {"records": tuple(path for path, _ in used)}
    seeds = [record["seed"] for record in good if record["seed"] in values]
    results = [values[seed] for seed in seeds]
    if not results:
        status, word = _without_result(records, good)
        return PaperCell(status, word, notes=tuple(notes), **about)
    if len(results) < wanted:
        notes.append(f"{len(results)} of {wanted} seeds")
    means = [float(np.mean(result)) for result in results]
    return PaperCell(
        STALE if STALE in notes else OK,
        mean=float(np.mean(means)),
        std_over_seeds=float(np.std(means)) if len(means) > 1 else None,
        std_over_folds=float(np.std(np.concatenate(results))),
        num_seeds=len(means),
        by_seed=tuple(zip(seeds, means, strict=True)),
        notes=(*notes, *_ended_badly(records)),
        seconds=float(np.mean([run_seconds(record) for record in good])),
        **about,
    )


def has_other_settings(run: Run, record: Record, first: Record) -> bool:
    """Say whether a record is not of the run as it is defined now, or of other data than ``first``.

    Settings can be changed on the command line, and recipes change with time. Rows with twins
    removed stand beside the others, so a record without them says the same.
    """
    try:
        config = run.config().updated({"seed": record["seed"]})
    except ConfigError:
        return True
    protocol = first["protocol"]
    if run.protocol in PROTOCOLS:
        protocol = scored_by(run.method, Scoring(run.protocol))
    protocol = protocol | {k: v for k, v in record["protocol"].items() if k == "twins"}
    wanted = Identity(config, first["data"]["checksum"], protocol, record["algorithm"])
    return bool(wanted.differences(record))


def _used(found: Sequence[Found], run: Run) -> tuple[Sequence[Found], list[str]]:
    """Return the records that count, and notes on those that do not."""
    current, notes = fresh(found), list[str]()
    if found and not current:
        current, notes = list(found), [STALE]
    elif len(current) < len(found):
        notes = [f"{len(found) - len(current)} more stale"]
    same = [pair for pair in current if not has_other_settings(run, pair[1], current[0][1])]
    if same and len(same) < len(current):
        return same, [*notes, f"{len(current) - len(same)} more of other settings"]
    return current, notes if same or not current else [*notes, "other settings"]


def _without_result(records: Sequence[Record], good: Sequence[Record]) -> tuple[str, str]:
    """Return (status, word) of a cell without a figure."""
    words = [str(record["word"]) for record in records if record["status"] == "limit"]
    if words:
        return LIMIT, words[0]
    if good:
        return NONE, "-"
    return (FAILED, FAILED) if records else (NOT_RUN, NOT_RUN)


def _ended_badly(records: Sequence[Record]) -> list[str]:
    """Return notes on the seeds that gave no result beside others that did."""
    words = [record.get("word", FAILED) for record in records if record["status"] != "ok"]
    return [f"{words.count(word)} {word}" for word in dict.fromkeys(words)]
