from __future__ import annotations

import pytest
import torch

from igsd.training import memory
from igsd.training.memory import kept_memory


def test_results_do_not_depend_on_it() -> None:
    x = torch.randn(2000, 64, generator=torch.Generator().manual_seed(0))
    plain = x @ x.T
    with kept_memory():
        kept = x @ x.T
    assert torch.equal(plain, kept)


def test_an_error_inside_passes_through() -> None:
    with pytest.raises(KeyError), kept_memory():
        raise KeyError("x")


def test_another_c_library_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_glibc", lambda: None)
    with kept_memory():
        assert True
