from __future__ import annotations

import re

import pytest

from igsd.report.page.assets import asset

SHARED = ("colours.css", "series.css")


def test_files_follow_one_another() -> None:
    assert asset("colours.css", "plot.css") == asset("colours.css") + asset("plot.css")


@pytest.mark.parametrize("name", ["style.css", "plot.css"])
def test_every_colour_that_is_used_is_given_once(name: str) -> None:
    text = asset(*SHARED, name)
    light, _, dark = text.partition("@media (prefers-color-scheme: dark)")
    given = set(re.findall(r"(--[\w-]+):", light + dark))
    assert set(re.findall(r"var\((--[\w-]+)\)", text)) <= given
    repeated = set(re.findall(r"(--[\w-]+):", asset(*SHARED))) & set(
        re.findall(r"(--[\w-]+): #", asset(name))
    )
    assert repeated == set()
