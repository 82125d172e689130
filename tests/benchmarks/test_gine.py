from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("rdkit")
pytest.importorskip("torch_geometric")

from benchmarks.gine import GINE, make_source, plain_pairs
from benchmarks.plain_gine import PlainGINE
from benchmarks.plain_pyg import pair_loader
from igsd.graphs.chemistry import chemical
from igsd.graphs.readers.smiles import from_smiles
from igsd.model.network import Step
from tests.graphs.test_chemistry import DRUGS


def test_both_sides_have_the_same_loss() -> None:
    model, source = make_source(chemical(from_smiles(DRUGS)), GINE)
    every = np.arange(len(DRUGS))
    (data,) = pair_loader(*plain_pairs(source), [every])
    ours = model.losses(Step(source, [every]))["total"].item()
    assert PlainGINE(model).train().loss(data).item() == pytest.approx(ours, abs=1e-5)
