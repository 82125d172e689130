"""All plots but the interactive map: Matplotlib figures, without pyplot and its global state.

Series differ by colour, mark and line style, so that a print without colours can be read.
"""

from __future__ import annotations

import io
import os
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import rc_context, ticker
from matplotlib.figure import Figure

from igsd.files.atomic import atomic_file, known_suffix, write_text
from igsd.report.projection import Projection, framed, project

if TYPE_CHECKING:  # the picture of a training needs none of them
    from igsd.report import scores, summary, tables

TEXT, QUIET, GRID, BACK = "#1c2126", "#59636e", "#d4d9de", "#ffffff"
COLOURS = (
    "#0072b2", "#d98200", "#1c2127", "#56b4e9", "#d55e00", "#b8a800", "#009e73", "#cc79a7",
)  # fmt: skip
"""Okabe and Ito's colours, which the colour-blind can tell apart, neighbours of different
brightness. The style sheet of the page has the same, and others for a dark background."""

_UNKNOWN, _MARKS = "#999999", "o^sDvPX*"
_DASHES = ("-", "--", ":", "-.", (0, (5, 3)), (0, (8, 3, 2, 3)), (0, (3, 5)), (0, (10, 3)))
_MOST_MARKS, _MOST_CLASSES, _LETTERS = 40, 20, 100

# Characters that no XML file may hold, not even escaped.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_CLIP = re.compile(r'<clipPath id="(p\w{10})"')
# Metadata that would make equal plots differ.
_METADATA = {".png": {"Software": None}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
_STYLE: dict[Any, Any] = {
    "svg.hashsalt": "igsd",
    "svg.fonttype": "none",
    "text.parse_math": False,  # a dollar sign in the name of a file is one
}
_STYLE |= {"axes.axisbelow": True, "grid.color": GRID, "grid.linewidth": 0.8}
_STYLE |= dict.fromkeys(("axes.spines.top", "axes.spines.right"), False)
_STYLE |= dict.fromkeys(("axes.edgecolor", "xtick.color", "ytick.color"), QUIET)
_STYLE |= dict.fromkeys(("axes.labelcolor", "text.color"), TEXT)
_style = partial(rc_context, _STYLE)
_figure: Any = partial(Figure, dpi=130, layout="constrained")


@dataclass(frozen=True)
class Plot:
    """A figure, and for the groups of its SVG by identifier what a pointer on them shows."""

    figure: Any
    titles: dict[str, str] = field(default_factory=dict)

    def svg(self) -> str:
        """Return the plot as the text of an SVG file whose letters are letters."""
        written = io.StringIO()
        with _style():
            self.figure.savefig(written, format="svg", metadata=_METADATA[".svg"])
        text = _NOT_XML.sub("\ufffd", written.getvalue())
        # Clips are named after corners whose last digits vary from run to run.
        names = {name: f"clip{number}" for number, name in enumerate(_CLIP.findall(text))}
        return re.sub("|".join(names) or "(?!)", lambda found: names[found[0]], text)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a PNG, SVG or PDF, as the suffix says; the same plot gives the same bytes."""
        suffix = picture_suffix(path)
        if suffix == ".svg":
            write_text(path, self.svg())
            return
        with _style(), atomic_file(path) as file:
            self.figure.savefig(file, format=suffix[1:], metadata=_METADATA[suffix])


@dataclass(frozen=True)
class Series:
    """Values ``y`` over ``x`` (None where there is none) with their deviations.

    ``links``: where in the page each point leads. ``hollow``: numbers that are not our own.
    """

    title: str
    x: Sequence[float]
    y: Sequence[float | None]
    spread: Sequence[float | None] = ()
    links: Sequence[str | None] = ()
    hollow: bool = False

    def points(self) -> list[tuple[float, float, float, str | None]]:
        """Return (x, y, deviation, link) of each point that has a value."""
        nothing = [None] * len(self.x)
        rows = zip(self.x, self.y, self.spread or nothing, self.links or nothing, strict=True)
        return [(x, y, s or 0.0, link) for x, y, s, link in rows if y is not None]


@dataclass(frozen=True)
class Axes:
    """Titles of the axes.

    ``names``: x counts 0, 1, ... and these stand below; no lines are drawn unless ``lines``.
    ``level``: a value of y that has a line of its own; ``diagonal``: where y = x is drawn.
    """

    x_title: str
    y_title: str
    log_x: bool = False
    names: Sequence[str] = ()
    level: float | None = None
    lines: bool = False
    diagonal: tuple[float, float] | None = None


def picture_suffix(path: str | os.PathLike[str]) -> str:
    """Return the suffix of a file for a picture; raises ``StorageError`` for another one."""
    return known_suffix(path, _METADATA, "a picture")


def line_plot(
    series: Sequence[Series], axes: Axes, *, size: tuple[float, float] = (6, 3.6), notes: str = ""
) -> Plot | None:
    """Return series with deviations, a legend and ``notes`` below; None where none has a value."""
    if not any(one.points() for one in series):
        return None
    lines = [line for part in notes.splitlines() for line in textwrap.wrap(part, _LETTERS)]
    notes_height = 0.16 * len(lines) + (0.06 if lines else 0.0)
    foot = notes_height + (0.18 * -(-len(series) // 2) if len(series) > 1 else 0.0)
    with _style():
        # A page has hundreds of these: margins in inches are three times faster than a layout.
        height = size[1] + foot
        figure = _figure((size[0], height), layout=None)
        drawn = figure.add_subplot()
        titles: dict[str, str] = {}
        for place, one in enumerate(series):
            titles |= _draw_series(drawn, one, place, axes, place - (len(series) - 1) / 2)
        if axes.level is not None:
            drawn.axhline(axes.level, color=TEXT, linestyle="--", linewidth=1, zorder=1)
        if axes.diagonal is not None:
            drawn.plot(*[axes.diagonal] * 2, color=QUIET, linestyle="--", linewidth=1, zorder=1)
        _set_axes(drawn, series, axes)
        ticks = drawn.yaxis.get_major_formatter().format_ticks(drawn.get_yticks())
        left = (0.45 + 0.085 * max(map(len, ticks))) / size[0]
        bottom, top = (0.55 + foot) / height, 1 - 0.1 / height
        figure.subplots_adjust(left=left, right=1 - 0.12 / size[0], bottom=bottom, top=top)
        if len(series) > 1:
            corner = (0.0, notes_height / height)
            look = {"ncols": 2, "frameon": False, "fontsize": "small", "borderaxespad": 0.2}
            figure.legend(loc="lower left", bbox_to_anchor=corner, **look)
        if lines:
            look = {"fontsize": "x-small", "color": QUIET, "linespacing": 1.25, "va": "bottom"}
            figure.text(0.08 / size[0], 0.05 / height, "\n".join(lines), **look)
    return Plot(figure, titles)


def panels(drawn: Sequence[tuple[str, Sequence[Series], Axes]]) -> Plot:
    """Return several plots, three side by side, each (title, series, axes), with one legend."""
    titles = list(dict.fromkeys(one.title for _, series, _ in drawn for one in series))
    columns, rows, foot = 3, -(-len(drawn) // 3), 0.2 * -(-len(titles) // 2)
    with _style():
        figure = _figure((3.2 * columns, 2.5 * rows + foot))
        share = foot / (2.5 * rows + foot)
        figure.get_layout_engine().set(rect=(0, share, 1, 1 - share))
        grid: Any = figure.subplots(rows, columns, squeeze=False).reshape(-1)
        for axes in grid[len(drawn) :]:
            axes.set_axis_off()
        for axes, (title, series, named) in zip(grid, drawn, strict=False):
            for one in series:
                _draw_series(axes, one, titles.index(one.title), named, 0.0)
            _set_axes(axes, series, named)
            axes.set_title(title, fontsize="medium")
        pairs = [zip(*axes.get_legend_handles_labels()[::-1], strict=True) for axes in grid]
        found = {title: handle for one in pairs for title, handle in one}
        look = {"ncols": 2, "frameon": False, "fontsize": "small", "borderaxespad": 0.2}
        figure.legend(found.values(), found.keys(), loc="lower left", **look)
    return Plot(figure)


def figure_plot(
    table: tables.Table, link: Callable[[summary.Cell], str | None] = lambda cell: None
) -> Plot | None:
    """Return the plot of a figure of the paper; ``link``: where the point of a cell leads.

    The baseline of ratios is a line at one. None for a table, and without results.
    """
    if table.axis is None:
        return None
    values = table.axis.values
    is_named = any(isinstance(value, str) for value in values)
    x = [float(i) if is_named else float(value) for i, value in enumerate(values)]
    series = []
    for row in (row for row in table.rows if row.method != table.baseline):
        means, spread = [c.mean for c in row.results], [c.std for c in row.results]
        series.append(Series(row.title, x, means, spread, [link(c) for c in row.results]))
    names = [str(value) for value in values] if is_named else []
    y_title, level = "error ratio", 1.0 if table.baseline else None
    if table.baseline is None:
        y_title = table.results[0].metric.axis
    return line_plot(series, Axes(table.axis.title, y_title, table.axis.log, names, level))


def table_plot(table: tables.Table, titles: Sequence[str], printed: str = "") -> Plot | None:
    """Return the plot of some rows of a table, with notes on what is missing.

    ``printed``: the row whose published results are drawn too, with hollow marks.
    """
    rows = {row.title: row.results for row in table.rows if row.title in titles}
    x = [float(place) for place in range(len(table.columns))]
    series = []
    for title in (title for title in titles if title in rows):
        cells = rows[title]
        series.append(Series(title, x, [c.mean for c in cells], [c.std for c in cells]))
        if title == printed:
            y = [c.printed.mean if c.printed else None for c in cells]
            spread = [c.printed.std if c.printed else None for c in cells]
            series.append(
                Series(f"{title.partition(',')[0]}, as published", x, y, spread, hollow=True)
            )
    names = [column.title for column in table.columns]
    drawn = [one for one in series if one.points()]
    axes = Axes("mean and one standard deviation", table.results[0].metric.axis, names=names)
    return line_plot(drawn, axes, size=(8, 4.2), notes="\n".join(_missing_results(rows, names)))


def comparison_plot(comparison: scores.Comparison) -> Plot:
    """Return the accuracy, time and memory of methods, one line each.

    Bars are standard deviations over seeds, over folds where there is one seed. A method without a
    score has its word there: OMR, > limit or failed.
    """
    # Matplotlib counts upwards, a table downwards.
    pairs = [*zip(comparison.lines, comparison.cells, strict=True)][::-1]
    shown = [(line, cell) for line, cell in pairs if line.method != "majority"]
    floor = next((cell.mean for line, cell in pairs if line.method == "majority"), None)
    cells = [cell for _, cell in shown]
    with _style():
        figure = _figure((10, 1.6 + 0.34 * len(shown)))
        left, middle, right = figure.subplots(1, 3, sharey=True, width_ratios=(2.2, 1, 1))
        over = "seeds" if any(cell.num_seeds > 1 for cell in cells) else "folds"
        kept = ", indistinguishable graphs kept" if comparison.twins else ""
        note = f"accuracy in per cent{kept}\nbars: one standard deviation over {over}"
        _draw_accuracies(left, cells, floor, over, note)
        # Seconds differ by orders of magnitude, memory does not.
        middle.set_xscale("log")
        middle.xaxis.set_major_formatter(lambda value, place: f"{value:g}")
        _draw_bars(middle, [c.seconds for c in cells], "seconds to fit and represent", 8.0)
        _draw_bars(right, [c.peak for c in cells], "peak memory in MiB", 1.25)
        left.set_yticks(range(len(shown)), [line.title for line, _ in shown])
        left.set_ylim(-0.6, len(shown) - 0.4)
        figure.suptitle(comparison.title)
    return Plot(figure)


def embedding_plot(
    vectors: np.ndarray | Projection,
    classes: np.ndarray | None = None,
    class_names: Sequence[Any] = (),
    title: str = "",
    words: tuple[str, str] = ("class", "unknown"),
) -> Plot:
    """Return embeddings [G, d] on their two principal components (or projected), by class.

    ``classes`` [G]: codes into ``class_names``, -1 where unknown. More than 20 are not told apart.
    ``words``: what a class and a graph without one are called.
    """
    with _scatter(vectors, title) as (plot, axes, points, look):
        look["alpha"] = 0.75
        if classes is None or not 0 < len(class_names) <= _MOST_CLASSES:
            axes.scatter(*points.T, c=COLOURS[0], **look)
            return plot
        for code in [*range(len(class_names)), -1]:
            chosen = np.asarray(classes) == code
            if chosen.any():
                name, colour, mark = words[1], _UNKNOWN, "."
                if code >= 0:
                    name, colour = f"{words[0]} {class_names[code]}", COLOURS[code % len(COLOURS)]
                    mark = _MARKS[(code + code // 8) % len(_MARKS)]
                label = f"{name} ({int(chosen.sum())})"
                look["zorder"] = 1 if code < 0 else 2  # graphs with a class lie on top
                axes.scatter(*points[chosen].T, c=colour, marker=mark, label=label, **look)
        axes.legend(loc="best", fontsize="small", framealpha=0.8)
    return plot


def number_plot(
    vectors: np.ndarray | Projection,
    values: np.ndarray,
    name: str,
    title: str,
    marked: Mapping[int, str] = MappingProxyType({}),
) -> Plot:
    """Return embeddings [G, d] coloured by ``values`` [G], NaN where unknown; names of some graphs.

    Colours range from the 2nd to the 98th percentile, so that outliers do not set the scale.
    """
    known = np.isfinite(values)
    with _scatter(vectors, title) as (plot, axes, points, look):
        if not known.all():
            axes.scatter(*points[~known].T, c=_UNKNOWN, marker=".", alpha=0.5, **look)
        if known.any():
            low, high = np.percentile(values[known], [2, 98])
            shown = axes.scatter(*points[known].T, c=values[known], vmin=low, vmax=high, **look)
            axes.figure.colorbar(shown, ax=axes, label=name, extend="both")
        for graph, text in marked.items():
            place = {"xytext": (4, 4), "textcoords": "offset points", "fontsize": "x-small"}
            axes.annotate(text, points[graph], **place)
    return plot


def pseudo_label_plot(counts: Mapping[str, Sequence[int]], title: str = "") -> Plot:
    """Plot the number of pseudo-labels after each round, and the share of right ones."""
    from igsd.report.summary import accumulated

    own, totals, shares = accumulated(counts)
    numbers = np.arange(1, own.max(initial=0) + 1)
    last = np.searchsorted(own, numbers, side="right")  # 0: no round has given any yet
    totals, shares = np.append(0, totals)[last], np.append(np.nan, shares)[last]
    with _style():
        figure = _figure((7, 4))
        axes = figure.add_subplot()
        axes.bar(numbers, totals, color=COLOURS[3])
        axes.set(xlabel="round of self-training", ylabel="pseudo-labels so far", title=title)
        if np.isfinite(shares).any():
            beside = axes.twinx()
            beside.plot(numbers, 100 * shares, color=COLOURS[4], marker="o")
            beside.set(ylim=(0, 105), ylabel="of those, right (%)")
    return Plot(figure)


def _draw_series(drawn: Any, one: Series, place: int, axes: Axes, shift: float) -> dict[str, str]:
    """Draw a line, its deviations and a mark for each point; return what the marks say.

    ``shift``: how far it stands from the middle of all series, so that bars do not overlap.
    """
    colour, mark = COLOURS[place % len(COLOURS)], _MARKS[place % len(_MARKS)]
    points = [point for point in one.points() if point[0] > 0 or not axes.log_x]
    look = {"color": colour, "markerfacecolor": BACK if one.hollow else colour}
    line = "None" if axes.names and not axes.lines else _DASHES[place % len(_DASHES)]
    has_marks = len(points) <= _MOST_MARKS
    x, y = [p[0] for p in points], [p[1] for p in points]
    if axes.names and not axes.lines:
        x = [value + min(0.16, 0.03 + 0.013 * len(axes.names)) * shift for value in x]
    elif axes.log_x:
        x = [value * 1.03**shift for value in x]
    drawn.plot(x, y, linestyle=line, marker=mark if has_marks else "", label=one.title, **look)
    titles = {}
    for number, (value, height, spread, link) in enumerate(points if has_marks else ()):
        if spread:
            bar = {"fmt": "none", "ecolor": colour, "elinewidth": 1.2, "capsize": 3}
            drawn.errorbar(x[number], height, yerr=spread, **bar)
        name = axes.names[int(value)] if axes.names else f"{value:g}"
        identifier = f"point-{place}-{number}"
        spot = {"marker": mark, "linestyle": "None", "gid": identifier, "url": link}
        drawn.plot([x[number]], [height], **spot, **look)
        deviation = f" ± {spread:.2g}" if spread else ""
        titles[identifier] = f"{one.title}, {name}: {height:.4g}{deviation}"
    return titles


def _set_axes(drawn: Any, series: Sequence[Series], axes: Axes) -> None:
    drawn.set(xlabel=axes.x_title, ylabel=axes.y_title)
    drawn.grid(axis="y")
    values = sorted({x for one in series for x in one.x if x > 0 or not axes.log_x})
    if axes.names:
        drawn.set_xticks(range(len(axes.names)), axes.names)
        drawn.set_xlim(-0.5, len(axes.names) - 0.5)
    elif axes.log_x:
        # The values are few and chosen: they are the ticks, those without a result included.
        drawn.set_xscale("log")
        drawn.set_xticks(values, [f"{value:g}" for value in values])
        drawn.xaxis.set_minor_locator(ticker.NullLocator())
        drawn.set_xlim(values[0] / 1.15, values[-1] * 1.15)
    elif all(value == int(value) for value in values):
        drawn.xaxis.set_major_locator(ticker.MaxNLocator(integer=True, nbins=8))


def _missing_results(rows: dict[str, list[summary.Cell]], names: Sequence[str]) -> list[str]:
    """Return what is missing in a plot or qualifies it, e.g. ``not run: GIN on NCI1, COLLAB``."""
    found: dict[str, list[str]] = {}
    for title, cells in rows.items():
        places: dict[str, list[str]] = {}
        for name, cell in zip(names, cells, strict=True):
            for word in [cell.word] * (cell.mean is None) + list(cell.notes):
                places.setdefault(word, []).append(name)
        for word, where in places.items():
            on = "" if len(where) == len(names) else f" on {', '.join(where)}"
            found.setdefault(word, []).append(title + on)
    return [f"{word}: {'; '.join(which)}" for word, which in found.items()]


def _draw_accuracies(
    axes: Any, cells: Sequence[summary.Cell], floor: float | None, over: str, note: str
) -> None:
    """Draw the accuracy of each method in per cent; no bar reaches below 0 or above 100."""
    for place, cell in enumerate(cells):
        if cell.mean is None:
            ground = {"facecolor": BACK, "edgecolor": "none", "pad": 1}
            where = {"xycoords": ("axes fraction", "data"), "va": "center", "color": TEXT}
            axes.annotate(cell.word or "-", (0.02, place), **where, bbox=ground)
            continue
        std = (cell.std_over_seeds if over == "seeds" else cell.std_over_folds) or 0.0
        ends = [[min(std, cell.mean)], [min(std, 100 - cell.mean)]]
        axes.errorbar(cell.mean, place, xerr=ends, fmt="o", color=COLOURS[0], capsize=3, ms=6)
    if floor is not None:
        axes.axvline(floor, color=QUIET, linestyle="--", label="majority class")
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1), frameon=False, fontsize="small")
    axes.set_xlabel(note)
    low, high = axes.get_xlim()
    axes.set_xticks([tick for tick in axes.get_xticks() if 0 <= tick <= 100])
    axes.set_xlim(max(low, -2), min(high, 102))
    axes.grid(axis="x")


def _draw_bars(axes: Any, values: Sequence[float | None], title: str, room: float) -> None:
    """Draw what a method costs, with the number at the end of its bar."""
    axes.set_xlabel(title)
    axes.grid(axis="x")
    axes.minorticks_off()
    known = [(place, value) for place, value in enumerate(values) if value is not None]
    if known:
        places, widths = zip(*known, strict=True)
        shown = [max(width, 0.001) for width in widths]  # times are measured in milliseconds
        bars = axes.barh(places, shown, height=0.6, color=GRID, edgecolor=COLOURS[0])
        texts = [f"{width:.0f}" if width >= 100 else f"{width:.2g}" for width in widths]
        axes.bar_label(bars, texts, padding=3, fontsize="small")
        axes.set_xlim(right=max(shown) * room)


@contextmanager
def _scatter(
    vectors: np.ndarray | Projection, title: str
) -> Iterator[tuple[Plot, Any, np.ndarray, dict[str, float]]]:
    """Yield a plot for vectors, its axes, the points [G, 2] and how their marks look."""
    points, x_title, y_title = vectors if isinstance(vectors, Projection) else project(vectors)
    points, beyond = framed(points)
    with _style():
        axes = _figure((7, 5.5)).add_subplot()
        axes.set(title=f"{title}\n{beyond}".rstrip(), xlabel=x_title, ylabel=y_title)
        size = float(np.clip(6000 / len(points), 4, 36))
        yield Plot(axes.figure), axes, points, {"s": size, "linewidths": 0.0}
