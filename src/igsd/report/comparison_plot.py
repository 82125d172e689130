"""``save_comparison_plot``: accuracy, time and memory of methods in one picture."""

from __future__ import annotations

import io
import os
from typing import Any

from igsd.atomic_file import atomic_file, known_suffix
from igsd.report.comparison import Comparison, ComparisonLine
from igsd.wording import counted

# Dark, middle and light: three greys that a print without colour keeps apart.
_DARK, _MIDDLE, _LIGHT = "#1b4965", "#7a7a7a", "#d9d9d9"

# What a format would add of itself, and of the time, to the same picture.
_WITHOUT = {".png": {"Software": None}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}

# Names of shapes in an SVG follow from this and what they are.
_SALT = "igsd"


def picture_suffix(path: str | os.PathLike[str]) -> str:
    """Return the suffix of a file for a picture; raises ``StorageError`` for another one."""
    return known_suffix(path, _WITHOUT, "a picture")


def save_comparison_plot(path: str | os.PathLike[str], comparison: Comparison) -> None:
    """Write a PNG, SVG or PDF of a comparison, whole or not at all; the suffix says which.

    One line for each method. Left: mean accuracy with the standard deviation over seeds (over folds
    where there is one seed), and the majority class as a dashed line. Middle and right: seconds and
    peak memory. A method without figures has its word there: OMR, > limit or failed. The same input
    gives the same bytes. Raises ``StorageError`` for another suffix.
    """
    suffix = picture_suffix(path)
    from matplotlib import rc_context

    with rc_context({"svg.hashsalt": _SALT}), atomic_file(path) as file:
        _figure(comparison).savefig(file, format=suffix[1:], metadata=_WITHOUT[suffix])


def comparison_svg(comparison: Comparison) -> str:
    """Return the same picture as the text of an SVG whose letters are letters, not their shapes."""
    from matplotlib import rc_context

    written = io.StringIO()
    with rc_context({"svg.hashsalt": _SALT, "svg.fonttype": "none"}):
        _figure(comparison).savefig(written, format="svg", metadata=_WITHOUT[".svg"])
    return written.getvalue()


def _figure(comparison: Comparison) -> Any:
    """Return the drawn figure."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    lines = comparison.lines[::-1]  # matplotlib counts upwards, a table downwards
    figure = Figure(figsize=(10, 1.6 + 0.34 * len(lines)), dpi=130, layout="constrained")
    FigureCanvasAgg(figure)
    left, middle, right = figure.subplots(1, 3, sharey=True, width_ratios=(2.2, 1, 1))
    _draw_accuracy(left, comparison, lines)
    # Seconds differ by orders of magnitude, memory does not.
    middle.set_xscale("log")
    _draw_bars(middle, [line.seconds for line in lines], "seconds to fit and represent", 8.0)
    _draw_bars(right, [line.peak for line in lines], "peak memory in MiB", 1.25)
    left.set_yticks(range(len(lines)), [line.method for line in lines])
    left.set_ylim(-0.6, len(lines) - 0.4)
    seeds = counted(comparison.num_seeds, "seed")
    title = f"{comparison.data}, protocol {comparison.scoring.protocol}, {seeds}"
    figure.suptitle(title, parse_math=False)  # a dollar in the name of a file is one
    return figure


def _draw_accuracy(axes: Any, comparison: Comparison, lines: tuple[ComparisonLine, ...]) -> None:
    protocol = comparison.scoring.protocol
    over = "seeds" if comparison.num_seeds > 1 else "folds"
    for place, line in enumerate(lines):
        row = line.rows.get(protocol)
        if row is None or row.mean is None:
            _say(axes, place, line.word or "-")
            continue
        std = row.std_over_seeds if over == "seeds" else row.std_over_folds
        # No accuracy is below 0 or above 1, wherever the deviation would reach.
        ends = [[100 * min(std or 0, row.mean)], [100 * min(std or 0, 1 - row.mean)]]
        axes.errorbar(100 * row.mean, place, xerr=ends, fmt="o", color=_DARK, capsize=3, ms=6)
    floor = comparison.majority.rows.get(protocol)
    if floor is not None and floor.mean is not None:
        axes.axvline(100 * floor.mean, color=_MIDDLE, linestyle="--", label="majority class")
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1), frameon=False, fontsize="small")
    kept = ", twins kept in training" if comparison.scoring.twins else ""
    axes.set_xlabel(f"accuracy in per cent{kept}\nbars: one standard deviation over {over}")
    _end_at_the_whole(axes)
    axes.grid(axis="x", color=_LIGHT)
    axes.set_axisbelow(True)


def _end_at_the_whole(axes: Any) -> None:
    """Let an axis of per cent have no figures below 0 or above 100, but room for a mark there."""
    low, high = axes.get_xlim()
    axes.set_xticks([tick for tick in axes.get_xticks() if 0 <= tick <= 100])
    axes.set_xlim(max(low, -2), min(high, 102))


def _draw_bars(axes: Any, values: list[float | None], title: str, room: float) -> None:
    """Draw what a method costs, with the figure at the end of its bar."""
    axes.set_xlabel(title)
    axes.grid(axis="x", color=_LIGHT)
    axes.set_axisbelow(True)
    axes.minorticks_off()
    known = [(place, value) for place, value in enumerate(values) if value is not None]
    if known:
        places, widths = zip(*known, strict=True)
        shown = [max(width, 0.001) for width in widths]  # what is told in milliseconds
        bars = axes.barh(places, shown, height=0.6, color=_LIGHT, edgecolor=_DARK)
        axes.bar_label(bars, [_short(width) for width in widths], padding=3, fontsize="small")
        axes.set_xlim(right=max(shown) * room)


def _short(value: float) -> str:
    """Return a figure with two or three digits that count."""
    return f"{value:.0f}" if value >= 100 else f"{value:.2g}"


def _say(axes: Any, place: int, word: str) -> None:
    """Write a word where a point would stand, above the line of the majority."""
    ground = {"facecolor": "white", "edgecolor": "none", "pad": 1}
    where = {"xycoords": ("axes fraction", "data"), "va": "center", "color": _DARK}
    axes.annotate(word, (0.02, place), **where, bbox=ground)
