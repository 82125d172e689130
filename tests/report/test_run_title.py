from __future__ import annotations

import pytest

from igsd.report.run_title import row_title, run_order, run_title


@pytest.mark.parametrize(
    ("label", "method", "protocol", "title"),
    [
        ("wl", "wl", "nested", "WL subtree"),
        ("igsd+view-edge-drop+epochs-3", "igsd", "nested", "IGSD, view edge-drop, epochs 3"),
        ("wl+node_features-label+degree", "wl", "nested", "WL subtree, node_features label+degree"),
        ("igsd+recipe-paper+epochs-3", "igsd", "nested", "IGSD, recipe paper, epochs 3"),
        ("wl+0a1b2c3d", "wl", "nested", "WL subtree, settings 0a1b2c3d"),
        ("molecules", None, "paper", "IGSD, recipe molecules"),
        ("social+epochs-3", None, "nested", "IGSD, recipe social, epochs 3"),
        ("gin+self-training", "gin+self-training", "semi-0.1", "GIN + self-training"),
        ("gin+epochs-3", "gin", "semi", "GIN (supervised only), epochs 3"),
    ],
)
def test_titles_of_runs(label: str, method: str | None, protocol: str, title: str) -> None:
    assert run_title(label, method, protocol) == title


def test_titles_of_rows() -> None:
    assert row_title("infograph", "nested") == "InfoGraph"
    assert row_title("igsd, twins removed", "nested") == "IGSD, twins removed"
    assert row_title("histogram", "semi") == "label and degree histogram"
    assert row_title("mine<", "nested") == "mine<"


def test_runs_stand_as_in_the_list_of_methods() -> None:
    names = [None, "infograph", "wl", "histogram", "mine"]
    assert sorted(names, key=lambda name: run_order(name, "nested")) == names
    names = ["infograph", "gin", "igsd-supcon", "mine"]
    assert sorted(names, key=lambda name: run_order(name, "semi")) == names
