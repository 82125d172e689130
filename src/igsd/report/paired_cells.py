"""Differences of two methods seed by seed, since seeds differ more than methods do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from igsd.experiments.exhibit import Exhibit
from igsd.report.paper_cell import NONE, NOT_RUN, OK, PaperCell

Cells = Sequence[PaperCell]


def paired_lines(
    exhibit: Exhibit, cells: Mapping[str, Cells], protocols: Sequence[str]
) -> Iterator[tuple[str, tuple[PaperCell, ...]]]:
    """Yield (other method, a cell for each column) of what ``exhibit.compared`` is held against.

    ``cells``: the cells of each method, one for each column; ``protocols``: those of the columns.
    Only under the protocol that is run: the best epoch of a split is no measurement.
    """
    for other in exhibit.compared_with:
        columns = zip(protocols, cells[exhibit.compared], cells[other], strict=True)
        yield (
            other,
            tuple(
                difference_cell(*pair) if protocol == exhibit.protocol else PaperCell(NONE)
                for protocol, *pair in columns
            ),
        )


def difference_cell(cell: PaperCell, other: PaperCell) -> PaperCell:
    """Return the mean difference over the seeds that both have, and its standard error.

    Its records are those of ``other``, after which its row is named, then those of ``cell``.

    >>> a, b = (PaperCell(OK, by_seed=seeds) for seeds in (((0, 70.0), (1, 72.0)), ((0, 69.0),)))
    >>> difference_cell(a, b).word
    '+1.0 (1 split)'
    """
    ours, theirs = dict(cell.by_seed), dict(other.by_seed)
    apart = [ours[seed] - theirs[seed] for seed in ours if seed in theirs]
    if not apart:
        return PaperCell(NOT_RUN, NOT_RUN)
    records = (*other.records, *cell.records)
    if len(apart) == 1:
        return PaperCell(OK, f"{_signed(apart[0])} (1 split)", records=records)
    mean, error = float(np.mean(apart)), float(np.std(apart, ddof=1) / np.sqrt(len(apart)))
    return PaperCell(OK, f"{_signed(mean)} ± {error:.1f}", records=records)


def _signed(difference: float) -> str:
    """Return a difference with its sign, as the page writes it.

    >>> _signed(0.04), _signed(-0.26)
    ('+0.0', '−0.3')
    """
    return f"{difference:+.1f}".replace("-", "\N{MINUS SIGN}")
