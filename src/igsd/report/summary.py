"""``summarise``: from the records of a method to a mean, its deviations and what they cost.

Every table, figure and plot gets its numbers here; nothing else averages records. Results that were
never stored, such as the scores of a model file, become records with ``unsaved_records``.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from igsd.experiments import ALGORITHM
from igsd.experiments.exhibits import Printed
from igsd.experiments.records import Record, fit_seconds, is_fresh, run_seconds
from igsd.experiments.scoring import Scored

OK, NOT_RUN, STALE, FAILED, LIMIT, NONE = "ok", "not run", "stale", "failed", "limit", "none"
"""The state of the runs behind a cell. ``stale``: another version of the algorithm made them;
``none``: there is nothing to measure, e.g. indistinguishable graphs in a data set without any."""

OTHER_SETTINGS = "other settings"

Folds = Mapping[int, Sequence[float]]
"""The results of the folds of each seed."""


@dataclass(frozen=True)
class Metric:
    """What is measured: its title in a table and on an axis, and how its values are written."""

    title: str
    axis: str
    scale: float = 1.0
    digits: int = 3

    def text(self, value: float | None) -> str:
        """Format a value that is scaled already; a dash stands for None."""
        return number(value, f".{self.digits}f")


METRICS = {
    "accuracy": Metric("accuracy %", "accuracy in per cent", 100.0, 1),
    "roc_auc": Metric("ROC-AUC", "area under the ROC curve"),
    "auprc": Metric("AUPRC", "area under the precision-recall curve"),
    "balanced_accuracy": Metric("balanced accuracy %", "balanced accuracy in per cent", 100.0, 1),
    "ece": Metric("calibration error", "expected calibration error"),
    "log_loss": Metric("log loss", "log loss"),
    "mae": Metric("mean absolute error", "mean absolute error"),
    "rmse": Metric("RMSE", "root mean squared error"),
    "ratio": Metric("error ratio", "error ratio", digits=2),
}


@dataclass(frozen=True)
class Cell:
    """The result of one method on one data set over its seeds.

    ``word`` stands in place of a number: ``not run``, ``failed``, ``OMR``, ``> limit`` or ``-``.
    ``folds``: the results as the records have them; ``mean`` and the deviations are in the unit of
    the ``metric``, e.g. per cent. ``notes`` qualify the result: stale, fewer seeds than wanted,
    failed seeds. ``remarks``: the notes of the records, each once. ``reason``: the error of the
    first seed without a result. ``records``: their paths inside their folder.

    Means over the seeds: ``seconds`` to fit the method and represent all graphs, ``run_seconds`` of
    a whole run, ``cpu_seconds`` of the processor (None in old records); ``peak``: most memory that
    the process of any seed held, in MiB. ``spread``: the deviation that is printed, over ``seeds``
    or ``folds``; ``shows_best``: whether the best seed is too. ``printed``: the result of the
    paper, after the word ``printed_by``. ``versus``: the difference from another method, seed by
    seed, which is printed in place of the deviation.
    """

    status: str = OK
    word: str = ""
    folds: Folds = field(default_factory=dict)
    metric: Metric = METRICS["accuracy"]
    notes: tuple[str, ...] = ()
    seconds: float | None = None
    run_seconds: float | None = None
    cpu_seconds: float | None = None
    peak: float | None = None
    reason: str | None = None
    remarks: tuple[str, ...] = ()
    spread: str = "seeds"
    shows_best: bool = False
    printed: Printed | None = None
    printed_by: str = "paper"
    records: tuple[str, ...] = ()
    versus: str = ""

    @property
    def num_seeds(self) -> int:
        """The number of seeds that have a result."""
        return len(self.folds)

    @property
    def by_seed(self) -> dict[int, float]:
        """The mean over the folds of each seed."""
        return {s: self.metric.scale * float(np.mean(folds)) for s, folds in self.folds.items()}

    @property
    def mean(self) -> float | None:
        """The mean over the folds of each seed, then over the seeds."""
        return self._statistic("mean")

    @property
    def std_over_seeds(self) -> float | None:
        """The standard deviation of the seeds' means (ddof 0), None for a single seed."""
        return self._statistic("std_over_seeds")

    @property
    def std_over_folds(self) -> float | None:
        """The standard deviation over all folds of all seeds (ddof 0)."""
        return self._statistic("std_over_folds")

    @property
    def std(self) -> float | None:
        """The deviation that is printed."""
        return self._statistic(f"std_over_{self.spread}")

    @property
    def standard_error(self) -> float | None:
        """The standard error of the mean over seeds (ddof 1), None for a single seed."""
        values = [*self.by_seed.values()]
        return _error_of_mean(values) if len(values) > 1 else None

    @property
    def best(self) -> float | None:
        """The mean of the best seed."""
        return max(self.by_seed.values(), default=None)

    @property
    def qualifiers(self) -> list[str]:
        """The best seed where it is to be printed, then the notes."""
        is_shown = self.shows_best and self.num_seeds > 1
        return [f"best {self.metric.text(self.best)}"] * is_shown + [*self.notes]

    @property
    def difference(self) -> float | None:
        """Our mean less the paper's; None where either is missing."""
        theirs = None if self.printed is None else self.printed.mean
        return None if self.mean is None or theirs is None else self.mean - theirs

    @property
    def figure(self) -> str:
        """The mean and its deviation, ``90.2 ± 0.7``, or the word in their place."""
        if self.mean is not None and self.versus:
            return f"{self.metric.text(self.mean)} ({self.versus})"
        return self.word if self.mean is None else mean_and_std(self.mean, self.std, self.metric)

    @property
    def text(self) -> str:
        """The figure with its notes: ``90.2 ± 0.7 (3 of 5 seeds)``."""
        return self.figure + (f" ({', '.join(self.qualifiers)})" if self.qualifiers else "")

    @property
    def printed_text(self) -> str:
        """The paper's result, empty where it has none."""
        printed = self.printed or Printed()
        if printed.mean is None:
            return printed.word or ""
        return mean_and_std(printed.mean, printed.std)

    @property
    def beside(self) -> str:
        """The paper's result, and how far ours is from it: ``90.2 ± 0.7 (ours −1.3)``."""
        if self.difference is None:
            return self.printed_text
        return f"{self.printed_text} (ours {signed(self.difference, self.metric.digits)})"

    def _statistic(self, name: str) -> float | None:
        value = statistics(self.folds)[name]
        return None if value is None else self.metric.scale * value


def summarise(
    records: Sequence[Record],
    metric: str = "accuracy",
    *,
    method: str | None = None,
    protocol: str | None = None,
    target: str = "",
    labels: int | None = None,
    wanted: int = 0,
    relative_to: Sequence[Record] | None = None,
    same: Callable[[Record, Record], bool] | None = None,
    paths: Sequence[str] = (),
    **shown: Any,
) -> Cell:
    """Summarise records that differ in their seed alone.

    Records of different versions of the algorithm or of different settings are never mixed: stale
    records, and those that are not the ``same``, count only where there are no others.

    The arguments:
        method, protocol: the row; default: the method that was run under its first protocol.
        target: the property to predict, where a record has the errors of several.
        labels: the number of labels shown, where a record has rows for several; 0: all.
        wanted: the number of seeds asked for; fewer are noted.
        relative_to: records of a baseline: the result is divided by theirs, seed by seed.
        same: whether a record belongs to the run, given the record and the first one.
        paths: the path of each record, for links.
        shown: fields of the cell that only concern how it is shown, such as ``printed``.
    """
    used, notes = _usable([*zip(records, paths or [""] * len(records), strict=True)], same)
    good = [record for record, _ in used if is_good(record)]
    bad = [record for record, _ in used if not is_good(record)]
    folds = _folds(good, method, protocol, metric, target, labels)
    if relative_to is not None:
        metric = "ratio"
        base = [record for record in relative_to if is_good(record) and is_fresh(record)]
        others = _folds(base, None, protocol, "mae", target)
        both = [seed for seed in folds if seed in others]
        folds = {s: [float(np.mean(folds[s]) / np.mean(others[s]))] for s in both}
    remarks = dict.fromkeys(note for record in good for note in record.get("notes") or ())
    shown |= {"records": tuple(path for _, path in used if path), "metric": METRICS[metric]}
    shown |= {"reason": bad[0].get("error") if bad else None, "remarks": tuple(remarks)}
    words = [record.get("word") or FAILED for record in bad]
    if not folds:
        limits = [record["word"] for record in bad if record["status"] == LIMIT]
        ended = FAILED if bad else NOT_RUN
        status, word = (LIMIT, limits[0]) if limits else (NONE, "-") if good else (ended, ended)
        return Cell(status, word, notes=tuple(notes), **shown)
    if len(folds) < wanted:
        notes.append(f"{len(folds)} of {wanted} seeds")
    notes += [f"{words.count(word)} {word}" for word in dict.fromkeys(words)]
    if method is None or all(method == own_method(record) for record in good):
        shown |= _costs(good)
    return Cell(STALE if STALE in notes else OK, folds=folds, notes=tuple(notes), **shown)


def difference(cell: Cell, other: Cell) -> Cell:
    """Compare two methods on the seeds of both: the mean difference and its standard error.

    The records are those of ``other``, after which the row is named, then those of ``cell``.
    """
    apart = [float(np.mean(folds)) for folds in paired(cell, other).values()]
    if not apart:
        return Cell(NOT_RUN, NOT_RUN)
    digits, error = cell.metric.digits, " (1 split)"
    if len(apart) > 1:
        error = f" ± {_error_of_mean(apart):.{digits}f}"
    text = signed(float(np.mean(apart)), digits) + error
    return Cell(OK, text, records=(*other.records, *cell.records))


def paired(cell: Cell, other: Cell) -> dict[int, np.ndarray]:
    """Return by how much a cell exceeds another in each fold, for each seed that both have."""
    scale = cell.metric.scale
    pairs = {seed: (folds, other.folds.get(seed, ())) for seed, folds in cell.folds.items()}
    # With other folds under the same seed, only the means could be compared.
    return {
        seed: scale * (np.asarray(ours) - np.asarray(theirs))
        for seed, (ours, theirs) in pairs.items()
        if len(ours) == len(theirs)
    }


def paired_by_folds(cell: Cell, other: Cell) -> tuple[float, float] | None:
    """Return the mean difference over all folds of both and its standard error (ddof 1).

    None if they have no two folds in common. The test parts of a seed are disjoint, those of
    several seeds are not, so that the error is, if anything, too small.
    """
    found = [*paired(cell, other).values()]
    apart = np.concatenate(found) if found else np.empty(0)
    return (float(apart.mean()), _error_of_mean(apart)) if len(apart) > 1 else None


def signed(value: float, digits: int) -> str:
    """Format a difference with its sign, ``−1.3`` or ``+0.4``."""
    return f"{value:+.{digits}f}".replace("-", "\N{MINUS SIGN}")


def _error_of_mean(values: Sequence[float] | np.ndarray) -> float:
    return float(np.std(values, ddof=1) / np.sqrt(len(values)))


def statistics(folds: Folds) -> dict[str, float | None]:
    """Return ``mean``, ``std_over_seeds`` and ``std_over_folds`` of results; None without any.

    Deviations are of the population (ddof 0). One seed has no deviation over seeds.
    """
    if not folds:
        return dict.fromkeys(("mean", "std_over_seeds", "std_over_folds"))
    means = [float(np.mean(values)) for values in folds.values()]
    return {
        "mean": float(np.mean(means)),
        "std_over_seeds": float(np.std(means)) if len(means) > 1 else None,
        "std_over_folds": float(np.std(np.concatenate([*folds.values()]))),
    }


def number(value: float | None, spec: str) -> str:
    """Format a number; a dash stands for None."""
    return "-" if value is None else format(value, spec)


def mean_and_std(mean: float, std: float | None, metric: Metric = METRICS["accuracy"]) -> str:
    """Format a mean with its deviation, ``90.2 ± 0.7``; a single seed has none."""
    return metric.text(mean) + ("" if std is None else f" ± {metric.text(std)}")


def _usable(
    located: Sequence[tuple[Record, str]], same: Callable[[Record, Record], bool] | None
) -> tuple[Sequence[tuple[Record, str]], list[str]]:
    """Return the records that count, and notes on those that do not."""
    fresh = [record["algorithm"] for record, _ in located if is_fresh(record)]
    newest = max((record["algorithm"] for record, _ in located), default=ALGORITHM)
    current = [pair for pair in located if pair[0]["algorithm"] == (fresh or [newest])[0]]
    num_stale = len(located) - len(current)
    notes = [STALE] if located and not fresh else []
    notes += [f"{num_stale} more stale"] if num_stale else []
    if same is None or not current:
        return current, notes
    alike = [pair for pair in current if same(pair[0], current[0][0])]
    num_others = len(current) - len(alike)
    if not alike:
        notes.append(OTHER_SETTINGS)
    elif num_others:
        notes.append(f"{num_others} more of {OTHER_SETTINGS}")
    return alike or current, notes


def row_values(records: Sequence[Record], method: str, protocol: str) -> dict[str, object]:
    """Return one row over its seeds as plain values for JSON: shares of one, not per cent."""
    rows = rows_of(records, method, protocol)
    folds = {place: row["accuracies"] for place, row in enumerate(rows)}
    seeds = [{key: value for key, value in row.items() if key != "method"} for row in rows]
    optimistic = any(row["optimistic"] for row in rows)
    head: dict[str, object] = {"method": method, "protocol": protocol, "optimistic": optimistic}
    return head | statistics(folds) | {"seeds": seeds}


def row_names(records: Iterable[Record], protocol: str | None = None) -> list[str]:
    """Return the methods that have a row in the records, under a protocol or under any."""
    rows = rows_of(filter(is_good, records), protocol=protocol)
    return list(dict.fromkeys(row["method"] for row in rows))


def row_notes(records: Iterable[Record], method: str, protocol: str) -> list[str]:
    """Return the notes of a row, e.g. of folds with few graphs, each once."""
    rows = rows_of(records, method, protocol)
    return list(dict.fromkeys(note for row in rows for note in row.get("notes") or ()))


def rows_of(
    records: Iterable[Record], method: str | None = None, protocol: str | None = None
) -> list[Any]:
    """Return the rows of records, of one method and under one protocol where these are named."""
    rows: Iterable[Any] = (row for record in records for row in record.get("rows", ()))
    return [r for r in rows if method in (None, r["method"]) and protocol in (None, r["protocol"])]


def unsaved_records(per_seed: Sequence[Sequence[Scored]]) -> list[Record]:
    """Return results that no run stored, e.g. the scores of a model file, as records."""
    records: list[Record] = []
    for seed, scored in enumerate(per_seed):
        rows: list[Any] = [{"method": name} | result.to_dict() for name, result in scored]
        records.append({"seed": seed, "status": OK, "algorithm": ALGORITHM, "rows": rows})
    return records


def is_good(record: Record) -> bool:
    """Return whether the run of a record ended with a result."""
    return record["status"] == OK


def own_method(record: Record) -> str:
    """Return the method that was run; a recipe is one of IGSD."""
    return str(record.get("method", "igsd"))


def _folds(
    records: Sequence[Record],
    method: str | None,
    protocol: str | None,
    metric: str,
    target: str,
    labels: int | None = None,
) -> dict[int, list[float]]:
    """Return the values of a row by seed, of the records that have it, or by split."""
    folds: dict[int, list[float]] = {}
    for record in records:
        rows = rows_of([record], method or own_method(record), protocol)
        if labels is not None:
            rows = [row for row in rows if row.get("labels") == labels]
        for row in rows[:1]:
            if "splits" in row:
                pairs = zip(row["splits"], row["metrics"].get(metric, ()), strict=False)
                folds |= {split: [value] for split, value in pairs if value is not None}
                continue
            values = row.get("accuracies" if metric == "accuracy" else metric)
            if isinstance(values, Mapping):
                values = values.get(target)
            if values is not None:
                folds[record["seed"]] = [*values] if isinstance(values, list) else [values]
    return folds


def _costs(records: Sequence[Record]) -> dict[str, float | None]:
    """Return the costs of the runs: mean seconds and the most memory."""
    timed = [record for record in records if record.get("seconds")]
    # Some records have the processor's time among the other seconds.
    cpu = [r.get("cpu_seconds", r["seconds"].get("processor")) for r in timed]
    means = {
        "seconds": [fit_seconds(record) for record in timed],
        "run_seconds": [run_seconds(record) for record in timed],
        "cpu_seconds": [seconds for seconds in cpu if seconds is not None],
    }
    peak = max(record.get("peak_memory_mib") or 0.0 for record in records) or None
    return {k: float(np.mean(v)) if v else None for k, v in means.items()} | {"peak": peak}


def accumulated(
    counts: Mapping[str, Sequence[int]],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (rounds, pseudo-labels so far, share of right ones so far or NaN), [r] each.

    ``counts`` as ``pseudo_label_counts`` gives them; old records lack ``checked``, some ``right``.
    """
    rounds, totals = (np.asarray(counts[name], np.int64) for name in ("rounds", "given"))
    checked = np.cumsum(counts.get("checked") or counts["given"])
    right = np.cumsum(counts.get("right") or np.zeros(len(rounds)))
    has_any = checked > 0 if counts.get("right") else np.zeros(len(rounds), bool)
    return rounds, np.cumsum(totals), right / np.where(has_any, checked, np.nan)
