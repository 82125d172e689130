"""From SMILES strings to vectors: train on some molecules, embed others (needs igsd[chem])."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from igsd import IGSD

ALCOHOLS = ["CO", "CCO", "CCCO", "CC(C)O", "CCCCO", "CC(C)CO", "CCCCCO", "OCCO"]
ARENES = ["c1ccccc1", "Cc1ccccc1", "CCc1ccccc1", "Cc1ccc(C)cc1", "Oc1ccccc1", "Nc1ccccc1"]
ACIDS = ["CC(=O)O", "CCC(=O)O", "CCCC(=O)O", "OC(=O)C(=O)O", "OC(=O)CC(=O)O"]
NEW = ["CCCCCCO", "CCCc1ccccc1", "CCCCC(=O)O"]


def main(epochs: int = 5) -> np.ndarray:
    """Print the training molecule nearest to each new one, and return the new vectors."""
    known = ALCOHOLS + ARENES + ACIDS
    model = IGSD.from_recipe("molecules", epochs=epochs, readout="mean", batch_size=8).fit(known)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "molecules.model"
        model.save(path)  # one file of numbers, no pickle
        model = IGSD.load(path)
    old, new = model.transform(known), model.transform(NEW)
    scale = old.std(axis=0) + 1e-6
    for smiles, vector in zip(NEW, new, strict=True):
        distances = np.linalg.norm((old - vector) / scale, axis=1)
        print(f"{smiles:12} is most like {known[int(distances.argmin())]}")
    return new


if __name__ == "__main__":
    main()
