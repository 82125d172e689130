from __future__ import annotations

from dataclasses import replace

from igsd.baselines.wl import WLConfig
from igsd.experiments.identity import Identity

IDENTITY = Identity(WLConfig(iterations=2), "abc", {"name": "nested"}, algorithm=1)


def stored(**changes: object) -> dict[str, object]:
    values = {"algorithm": 1, "data": {"checksum": "abc"}, "protocol": {"name": "nested"}}
    return values | {"config": WLConfig(iterations=2).to_json()} | changes


def test_what_differs_is_named() -> None:
    assert IDENTITY.differences(stored()) == []
    assert IDENTITY.differences(stored(protocol={"name": "paper"}, algorithm=0)) == [
        "algorithm is 0 there and 1 here",
        "protocol name is 'paper' there and 'nested' here",
    ]


def test_settings_that_come_and_go() -> None:
    config = WLConfig().to_json() | {"gone": 3}
    del config["iterations"]  # it had its default then
    assert IDENTITY.differences(stored(config=config)) == [
        "gone is 3 there and None here",
        "iterations is 5 there and 2 here",
    ]


def test_the_digest_follows_all_of_it() -> None:
    others = [replace(IDENTITY, checksum="x"), replace(IDENTITY, config=WLConfig(iterations=3))]
    assert len({one.digest for one in (IDENTITY, replace(IDENTITY), *others)}) == 3
