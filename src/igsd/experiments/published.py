"""``published_rows``: figures from the literature, which stand beside our own in a table."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib import resources


@dataclass(frozen=True)
class PublishedRow:
    """A method's figures as its authors printed them, with the place where they stand.

    ``figures``: (mean, standard deviation) of the accuracy in per cent, by name of the data set.
    """

    method: str
    source: str
    figures: dict[str, tuple[float, float]]


def published_rows() -> list[PublishedRow]:
    """Return the rows of ``published.toml``, in its order."""
    text = (resources.files("igsd.experiments") / "published.toml").read_text()
    return [
        PublishedRow(
            row["method"],
            row["source"],
            {name: (cell["mean"], cell["std"]) for name, cell in row["figures"].items()},
        )
        for row in tomllib.loads(text)["row"]
    ]
