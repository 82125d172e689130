from __future__ import annotations

from igsd.errors import IGSDError, StorageError, nearest


def test_nearest_names_the_close_ones_or_all() -> None:
    assert nearest("temprature", ["temperature", "epochs"]) == "Did you mean 'temperature'?"
    assert nearest("zzz", ["b", "a"]) == "Valid names: a, b."


def test_errors_are_value_errors() -> None:
    assert issubclass(StorageError, IGSDError)
    assert issubclass(IGSDError, ValueError)
