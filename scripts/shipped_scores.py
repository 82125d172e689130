"""``python -m scripts.shipped_scores FOLDER``: scores of the encoder in the package, as a record.

FOLDER holds the sets of MoleculeNet (``BBBP.csv.gz``, ...). A linear model learns from 128 or 400
labelled molecules, chosen at random, and is tested on at most 3,000 others; its strength is chosen
by cross-validation inside the labels. The record goes to ``results/shipped/molecules.json``, its
table into the model card. Splits that the record has are kept, so the same command continues.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import pyarrow.csv
from sklearn.metrics import mean_absolute_error, roc_auc_score
from sklearn.preprocessing import StandardScaler

import igsd
from igsd.evaluation.heads import fit_classes, fit_targets
from igsd.experiments.environment import commit, now, versions
from igsd.files.atomic import write_json, write_text
from igsd.graphs.readers.smiles import read_molecules
from igsd.progress import progress_bar
from igsd.report.readme import replace_between

ROOT = Path(__file__).resolve().parents[1]
RECORD = ROOT / "results" / "shipped" / "molecules.json"
CARD = ROOT / "src" / "igsd" / "shipped" / "molecules.md"
SETS = {
    "BBBP": "BBBP.csv.gz",
    "Tox21": "tox21.csv.gz",
    "SIDER": "sider.csv.gz",
    "ESOL": "esol_delaney.csv.gz",
    "Lipophilicity": "Lipophilicity.csv.gz",
}
NUMBERS = ("ESOL", "Lipophilicity")
TARGETS = {
    "BBBP": "p_np",
    "ESOL": "measured log solubility in mols per litre",
    "Lipophilicity": "exp",
}
LABELS, MOST_TESTED, LARGEST = (128, 400), 3000, 6.0


def read(path: Path, target: str | None) -> tuple[list[str], np.ndarray]:
    """Return the SMILES that RDKit reads and their labels [G, t], NaN where unknown."""
    table = pyarrow.csv.read_csv(path)
    texts = table["smiles"].to_pylist()
    names = [target] if target else [n for n in table.column_names if n not in ("smiles", "mol_id")]
    labels = np.column_stack([table[n].cast("float64").to_numpy() for n in names])
    bad = {failure.row for failure in read_molecules(texts, name=path.name).failures}
    kept = [row for row in range(len(texts)) if row not in bad]
    return [texts[row] for row in kept], labels[kept]


def morgan_counts(smiles: list[str]) -> np.ndarray:
    """Return the counts of Morgan fragments, radius 2, folded to 2,048."""
    from rdkit import Chem
    from rdkit.Chem import rdFingerprintGenerator

    generator = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=2048)
    counts = [generator.GetCountFingerprintAsNumPy(Chem.MolFromSmiles(text)) for text in smiles]
    return np.array(counts, np.float64)


def score(X: np.ndarray, y: np.ndarray, num_labels: int, seed: list[int], is_number: bool) -> float:
    """Return ROC-AUC, or the mean absolute error, of a linear model; NaN if a class is missing."""
    order = np.random.default_rng(seed).permutation(np.flatnonzero(~np.isnan(y)))
    train, test = order[:num_labels], order[num_labels : num_labels + MOST_TESTED]
    if is_number:
        predicted = fit_targets(X[train], y[train, None]).predict(X[test])
        return float(mean_absolute_error(y[test], predicted))
    if len(set(y[train])) < 2 or len(set(y[test])) < 2:
        return float("nan")
    model = fit_classes(X[train], y[train].astype(int), "linear")
    return float(roc_auc_score(y[test], model.predict_proba(X[test])[:, 1]))


def standardised(X: np.ndarray) -> np.ndarray:
    """Return the columns standardised over the whole set, which needs no labels, and cut off."""
    return np.clip(StandardScaler().fit_transform(X), -LARGEST, LARGEST)


def main() -> None:
    """Score what the record lacks, and render the card."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=SETS)
    args = parser.parse_args()
    scores = json.loads(RECORD.read_text())["scores"] if RECORD.exists() else {}
    for name in args.sets:
        keys = [f"{name} {n} {split}" for n in LABELS for split in range(args.splits)]
        if all(key in scores for key in keys):
            continue
        smiles, labels = read(args.folder / SETS[name], TARGETS.get(name))
        encoded = igsd.pretrained("molecules").transform(smiles).astype(np.float64)
        vectors = {"igsd": standardised(encoded), "morgan": morgan_counts(smiles)}
        with progress_bar(name, len(keys), shown=True) as advance:
            for key in keys:
                if key not in scores:
                    _, num_labels, split = key.rsplit(" ", 2)
                    scores[key] = {
                        method: float(
                            np.nanmean(
                                [
                                    score(X, y, int(num_labels), [int(split), t], name in NUMBERS)
                                    for t, y in enumerate(labels.T)
                                ]
                            )
                        )
                        for method, X in vectors.items()
                    }
                    facts = {"kind": "igsd shipped scores", "made": now(), "commit": commit()}
                    write_json(RECORD, facts | {"versions": versions(), "scores": scores})
                advance(1)
    render(scores)


def render(scores: dict[str, dict[str, float]]) -> None:
    """Write the means over splits, and the differences with their standard error, into the card."""
    lines = ["| labels | set | this encoder | Morgan counts | difference | splits |"]
    lines.append("|---:|---|---:|---:|---:|---:|")
    for num_labels in LABELS:
        for name in SETS:
            keys = [key for key in scores if key.startswith(f"{name} {num_labels} ")]
            if not keys:
                continue
            ours, theirs = (np.array([scores[k][m] for k in keys]) for m in ("igsd", "morgan"))
            apart = ours - theirs
            error = np.std(apart, ddof=1) / np.sqrt(len(apart)) if len(apart) > 1 else np.nan
            title = f"{name}, error" if name in NUMBERS else f"{name}, ROC-AUC"
            figures = f"{ours.mean():.3f} | {theirs.mean():.3f} | {apart.mean():+.3f} ± {error:.3f}"
            lines.append(f"| {num_labels} | {title} | {figures} | {len(keys)} |")
    table = "\n".join(lines)
    begin, end = "<!-- scores: begin -->", "<!-- scores: end -->"
    write_text(CARD, replace_between(CARD.read_text(), begin, end, table))


if __name__ == "__main__":
    main()
