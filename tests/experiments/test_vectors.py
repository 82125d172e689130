from __future__ import annotations

import numpy as np
import pytest

from igsd.baselines.registry import make_method
from igsd.experiments.vectors import KernelMatrix, LinearVectors, compared_by, delivered
from igsd.graphs.graphset import GraphSet


@pytest.mark.parametrize(
    ("name", "protocol", "kind"),
    [
        ("histogram", "nested", np.ndarray),
        ("wl", "gckn", KernelMatrix),
        ("gckn", "nested", KernelMatrix),
        ("gckn", "gckn", LinearVectors),
    ],
)
def test_what_methods_deliver(graphs: GraphSet, name: str, protocol: str, kind: type) -> None:
    model = make_method(name).fit(graphs)
    values, kernel = delivered(model, graphs, protocol)
    made = compared_by(values, kernel)
    assert isinstance(made, kind)
    assert len(made) == len(graphs)
    assert (values.shape == (len(graphs), len(graphs))) == (kernel == "precomputed")
