"""Many texts as one array of bytes."""

import numpy as np
import pytest

from igsd.files.texts import Texts


@pytest.mark.parametrize("texts", [["C", "", "größer", "C"], [""], ["€"]])
def test_texts_survive(texts: list[str]) -> None:
    packed = Texts.of(texts)
    assert packed.decoded() == tuple(texts) == tuple(packed)
    assert packed.is_utf8
    assert packed.index(texts[-1]) == texts.index(texts[-1])


@pytest.mark.parametrize(
    ("data", "bounds"), [(b"a\xcbb", [0, 3]), (b"\xf9", [0, 1]), ("é".encode(), [0, 1, 2])]
)
def test_bytes_that_are_no_texts(data: bytes, bounds: list[int]) -> None:
    assert not Texts(np.frombuffer(data, np.uint8), np.array(bounds)).is_utf8
