"""``result_cell``: our figure, the paper's, their difference and what stands behind ours."""

from __future__ import annotations

from igsd.experiments.estimates import in_words
from igsd.report.page.html import Html, tag
from igsd.report.page.record_groups import anchor
from igsd.report.paper_cell import NONE, PaperCell
from igsd.report.result_cell import mean_and_std
from igsd.wording import counted

_CLEAR, _LARGE = 1.0, 5.0
_WHOLE = 16


def result_cell(cell: PaperCell) -> Html:
    """Return a cell of a table, linked to its records where there are any."""
    parts = [linked(cell), _paper(cell), _behind(cell)]
    return tag("td", *parts, class_=f"result {_status_class(cell)}")


def linked(cell: PaperCell) -> Html:
    """Return our side of a cell, as a link to its records where there are any."""
    if cell.mean is None:
        text = tag("span", cell.word)
    else:
        text = tag("b", mean_and_std(cell.mean, cell.std, cell.digits))
    if not cell.records or cell.status == NONE:
        return text
    return tag("a", text, href=f"#{anchor(cell.records[0])}")


def difference_tag(difference: float) -> Html:
    """Return ours less the paper's: an arrow and a sign, and a colour that is not needed.

    >>> difference_tag(-3.92)
    '<span class="difference below clear">▼ −3.9</span>'
    """
    rounded = round(difference, 1)
    if rounded == 0:
        return tag("span", "= 0.0", class_="difference")
    arrow, side = ("▲ +", "above") if rounded > 0 else ("▼ −", "below")
    size = abs(rounded)
    strength = "large" if size >= _LARGE else "clear" if size >= _CLEAR else "slight"
    return tag("span", f"{arrow}{size:.1f}", class_=f"difference {side} {strength}")


def seconds_text(seconds: float) -> str:
    """Return a time in the unit that suits it."""
    return f"{seconds:.1f} s" if seconds < 10 else in_words(seconds)


def _paper(cell: PaperCell) -> Html | None:
    """Return the paper's figure and how far ours is from it."""
    if not cell.printed_text:
        return None
    said = f"{cell.printed_by} {cell.printed_text} "
    apart = None if cell.difference is None else difference_tag(cell.difference)
    return tag("div", said, apart, class_="paper")


def _behind(cell: PaperCell) -> Html | None:
    """Return the other deviation, the number of seeds, the time and the notes of our figure."""
    parts = [note for note in (cell.best_text, *cell.notes) if note]
    if cell.mean is not None:
        name, other = ("folds", cell.std_over_folds)
        if cell.spread == "folds":
            name, other = ("seeds", cell.std_over_seeds)
        if not any(note.endswith("seeds") for note in cell.notes):
            parts.insert(0, counted(cell.num_seeds, "seed"))
        # A split with one test part has folds that are its seeds; one alone does not deviate.
        if other is not None and abs(other - (cell.std or 0.0)) > 1e-9:
            parts.insert(0, f"± {other:.{cell.digits}f} {name}")
        if cell.seconds is not None:
            parts.append(seconds_text(cell.seconds))
    # Lines break between the parts, not inside of "3 of 5 seeds" or "2 min".
    whole = [
        part.replace(" ", "\N{NO-BREAK SPACE}") if len(part) < _WHOLE else part for part in parts
    ]
    return tag("div", ", ".join(whole), class_="behind") if parts else None


def _status_class(cell: PaperCell) -> str:
    return "is-" + cell.status.replace(" ", "-")
