"""``python -m scripts.shipped_corpus FOLDER -o FILE``: the corpus of the encoder in the package.

FOLDER holds ``chembl31_150k.csv.gz`` and ``zinc250k.csv.gz``. The corpus is made of blocks of 1,000
rows: 37 of ChEMBL and 29 of ZINC, in turns as long as there are both. The training was

    igsd pretrain FILE -o molecules.safetensors --set epochs=8 --set readout=sum+max
        --set self_weight=0 --set learning_rate=0.002
"""

from __future__ import annotations

import argparse
from itertools import islice, zip_longest
from pathlib import Path

from igsd.graphs.corpus import corpus_texts

BLOCK = 1000
CHEMBL = (*range(25), *(128 + 4 * i + j for i in range(6) for j in range(2)))
ZINC = tuple(range(29))


def blocks(path: Path, chosen: tuple[int, ...]) -> list[list[str]]:
    """Return some blocks of rows of a table."""
    texts = list(islice(corpus_texts([str(path)]), BLOCK * (max(chosen) + 1)))
    return [texts[BLOCK * block : BLOCK * (block + 1)] for block in chosen]


def corpus(folder: Path) -> list[str]:
    """Return the SMILES of the corpus, in the order of the training."""
    chembl = blocks(folder / "chembl31_150k.csv.gz", CHEMBL)
    zinc = blocks(folder / "zinc250k.csv.gz", ZINC)
    turns = [part for pair in zip_longest(chembl[:25], zinc) for part in pair if part is not None]
    return [text for part in (*turns, *chembl[25:]) for text in part]


def main() -> None:
    """Write the corpus."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    args = parser.parse_args()
    args.output.write_text("smiles\n" + "".join(f"{text}\n" for text in corpus(args.folder)))


if __name__ == "__main__":
    main()
