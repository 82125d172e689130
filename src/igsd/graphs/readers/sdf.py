"""``read_records``: the molecules of an SDF or MOL file, with their titles and properties.

Coordinates give the stereochemistry and are not kept.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from igsd.errors import need


@dataclass(frozen=True)
class Record:
    """A record: its structure as SMILES, or empty and why it cannot be read; and its first line."""

    smiles: str
    fault: str
    title: str
    properties: dict[str, str]
    line: int


def read_records(text: str) -> Iterator[Record]:
    """Yield the records of an SDF file, or the one of a MOL file; broken ones have no SMILES."""
    need("chem", "rdkit", "Reading SDF and MOL files")
    from rdkit import rdBase

    with rdBase.BlockLogs():
        for block, line in _blocks(text):
            title = block.split("\n", 1)[0].strip()
            yield Record(*_structure(block), title, _properties(block), line)


def _blocks(text: str) -> Iterator[tuple[str, int]]:
    """Yield the records of an SDF file with the lines they begin on."""
    start = 1
    block: list[str] = []
    for number, line in enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), 1):
        if line.startswith("$$$$"):
            yield "\n".join(block), start
            start, block = number + 1, []
        else:
            block.append(line)
    if any(line.strip() for line in block):
        yield "\n".join(block), start


def _structure(block: str) -> tuple[str, str]:
    """Return (SMILES, "") of a MOL block, or ("", why it cannot be read)."""
    from rdkit import Chem

    head, end, rest = block.partition("M  END")
    if not end:
        return "", "a broken record: it has no line 'M  END'"
    if any(line.startswith("M  END") for line in rest.split("\n")):
        return "", "a broken record: it has several structures, with no line '$$$$' between them"
    try:
        molecule = Chem.MolFromMolBlock(head + end)
        if molecule is not None:
            return Chem.MolToSmiles(molecule), ""
        unchecked = Chem.MolFromMolBlock(head + end, sanitize=False)
    except (RuntimeError, ValueError):
        unchecked = None
    if unchecked is None:
        return "", "a broken record: its atoms or bonds cannot be read"
    problems = Chem.DetectChemistryProblems(unchecked)
    return "", problems[0].Message() if problems else "chemically impossible"


def _properties(block: str) -> dict[str, str]:
    """Return the properties behind the structure of a record; lines of a value become spaces."""
    found: dict[str, list[str]] = {}
    name = None
    for line in block.partition("M  END")[2].split("\n")[1:]:
        # A line that begins so inside a value, such as >10 <50, belongs to the value.
        match = re.search(r"<([^>]*)>", line) if name is None and line.startswith(">") else None
        if match is not None:
            name = match[1].strip()
            found[name] = []
        elif not line.strip():
            name = None
        elif name is not None:
            found[name].append(line.strip())
    return {name: " ".join(values) for name, values in found.items()}
