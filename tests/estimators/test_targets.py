from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from igsd.errors import DataError, IGSDWarning
from igsd.estimators.targets import (
    TargetScale,
    accuracy,
    check_known,
    class_array,
    codes_of,
    encode_classes,
    read_targets,
)

NAN = float("nan")


def test_large_whole_numbers_stay_exact() -> None:
    """NumPy makes floats of these, which were equal to each other."""
    y = [7, 2**63 + 1, 2**63 + 3] * 2
    codes, classes = encode_classes(y, 6)
    assert classes.tolist() == y[:3]
    assert codes_of(y, classes, 6).tolist() == codes.tolist() == [0, 1, 2, 0, 1, 2]
    assert class_array(classes.tolist()).tolist() == y[:3]


@pytest.mark.parametrize(
    ("y", "codes", "classes"),
    [
        (["b", "a", None, "b", "a"], [1, 0, -1, 1, 0], ["a", "b"]),
        ([0, 1, -1, 0, 1], [0, 1, -1, 0, 1], [0, 1]),
        ([3, 7, -1, 7, 3], [0, 1, -1, 1, 0], [3, 7]),
        (np.array([0, 1, -1, 0, 1]), [0, 1, -1, 0, 1], [0, 1]),
        (np.array([0, 1, -1, 0, 1], object), [0, 1, -1, 0, 1], [0, 1]),
        ([-1, 1, None, -1, 1], [0, 1, -1, 0, 1], [-1, 1]),
        (np.array([-1, 1, NAN, -1, 1]), [0, 1, -1, 0, 1], [-1, 1]),
        ([-1, 0, None, -1, 0], [0, 1, -1, 0, 1], [-1, 0]),
        ([0.0, 2.0, NAN, 0.0, 2.0], [0, 1, -1, 0, 1], [0, 2]),
        (np.array(["x", NAN, "y", "x", "y"], object), [0, -1, 1, 0, 1], ["x", "y"]),
        ([True, False, None, True, False], [1, 0, -1, 1, 0], [False, True]),
        (["-1", "1", None, "-1", "1"], [0, 1, -1, 0, 1], ["-1", "1"]),
        ([1, 1, 0, 0, 2, 2], [1, 1, 0, 0, 2, 2], [0, 1, 2]),
    ],
)
def test_codes_and_classes(y: Any, codes: list[int], classes: list[Any]) -> None:
    found, names = encode_classes(y, len(y))
    assert found.tolist() == codes
    assert found.dtype == np.int64
    assert names.tolist() == classes


@pytest.mark.parametrize(
    "y", [[-1, 1, 1, -1], np.array([-1, 1, 1, -1]), np.array([-1.0, 1, 1, -1])]
)
def test_minus_one_beside_one_class_is_a_class(y: Any) -> None:
    """MUTAG's own classes; a table and Python once disagreed about them."""
    with pytest.warns(IGSDWarning, match=r"-1 in 'y' \(2\) is taken as a class"):
        codes, classes = encode_classes(y, 4)
    assert (codes.tolist(), classes.tolist()) == ([0, 1, 1, 0], [-1, 1])


@pytest.mark.parametrize("missing", [None, NAN, "", "NA"])
def test_minus_one_beside_other_signs_of_a_missing_label(missing: Any) -> None:
    """Beside None or NaN it was a third class, and in a table it was not."""
    with pytest.warns(IGSDWarning, match=r"labels in 'y' are taken as missing: -1 \(2\)"):
        codes, classes = encode_classes([0, 1, -1, missing, 0.0, 1, -1], 7)
    assert (codes.tolist(), classes.tolist()) == ([0, 1, -1, -1, 0, 1, -1], [0, 1])


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, r"needs labels.*igsd\.IGSD"),
        ([None] * 4, "has no label"),
        ([NAN] * 4, "has no label"),
        ([-1] * 4, "All 4 labels in y are -1"),
        (["a", "a", None, "a"], r"at least two classes\. All 3 labels in y are 'a'"),
        ([0, 0, 0, 0], "All 4 labels in y are 0"),
        ([0, 1, 0], r"3 labels for 4 graphs"),
        ([0, 1, 0, 1, 1], r"5 labels for 4 graphs"),
        ([0.5, 1.0, 0.5, 1.0], r"Graph 0 has 0\.5.*regressor"),
        ([0, 1, 0, float("inf")], "Graph 3 has inf"),
        (["a", 1, "a", 1], "all text or all whole numbers"),
        (np.zeros((4, 2)), r"shape \(4, 2\)"),
        ("abab", "list with one label per graph"),
        (3, "list with one label per graph"),
        ([0, 1, [1], 0], "Graph 2 has a list"),
    ],
)
def test_things_that_are_no_classes(y: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        encode_classes(y, 4)


def test_a_class_with_one_label_is_noted() -> None:
    with pytest.warns(IGSDWarning, match="1 class has a single labelled graph: c"):
        codes, _ = encode_classes(["a", "a", "b", "b", "c", None], 6)
    assert codes.tolist() == [0, 0, 1, 1, 2, -1]


class TestKnownClasses:
    def test_codes(self) -> None:
        classes = np.array(["a", "b"])
        assert codes_of(["b", None, "a"], classes, 3).tolist() == [1, -1, 0]

    def test_minus_one_is_a_gap_unless_it_is_a_class(self) -> None:
        assert codes_of([0, -1, 0], np.array([0, 5]), 3).tolist() == [0, -1, 0]
        assert codes_of([1, -1, None], np.array([-1, 1]), 3).tolist() == [1, 0, -1]
        assert codes_of(["a", "NA", ""], np.array(["a", "na"]), 3).tolist() == [0, -1, -1]

    def test_an_unknown_class_is_named(self) -> None:
        with pytest.raises(DataError, match=r"1 class of y: z\. It was trained on a, b"):
            codes_of(["a", "z"], np.array(["a", "b"]), 2)


NAN_target_values = float("nan")


def test_one_number_per_graph() -> None:
    values, is_single = read_targets([1, None, 3.0, NAN_target_values], 4)
    assert is_single
    np.testing.assert_array_equal(values, [[1], [NAN_target_values], [3], [NAN_target_values]])


def test_several_numbers() -> None:
    values, is_single = read_targets(np.arange(6).reshape(3, 2), 3)
    assert not is_single
    assert values.shape == (3, 2)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "needs targets"),
        ([1.0, 2.0], "Got 2 for 3 graphs"),
        ([1.0, "12 mg", 3.0], "must hold numbers.* Graph 1 has '12 mg'"),
        ([1.0, float("inf"), 2.0], "Graph 1 has"),
        (np.zeros((3, 2, 2)), r"shape \(3, 2, 2\)"),
        (5.0, r"shape \(\)"),
        # Of these, the first two were counted in days and cut to their real part.
        (np.arange(3).astype("datetime64[D]"), "must hold numbers.* Graph 0 has .*1970-01-01"),
        (np.array([1, 2j, 3]), "must hold numbers.* Graph 0 has"),
        ([1.0, 10**400, 3.0], r"must hold numbers.* Graph 1 has 1000.*\.\.\."),
    ],
)
def test_things_that_are_no_targets(y: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_targets(y, 3)


def test_too_little_is_known() -> None:
    with pytest.raises(DataError, match="no target, only NaN"):
        check_known(np.full((3, 1), NAN_target_values))
    with pytest.raises(DataError, match=r"target 1 \(0\)"):
        check_known(np.array([[1, NAN_target_values], [2, NAN_target_values]]))
    with pytest.raises(DataError, match=r"target 0 \(1\)"):
        check_known(np.array([[1.0], [NAN_target_values]]))


@pytest.mark.filterwarnings("ignore:All known values")
def test_the_scale_is_that_of_known_targets() -> None:
    targets = np.array([[1.0, 5.0], [3.0, NAN_target_values], [NAN_target_values, 5.0]])
    scale = TargetScale.fit(targets, is_single=False)
    assert scale.mean.tolist() == [2.0, 5.0]
    assert scale.scale.tolist() == [1.0, 0.0]
    made = scale.standardised(targets)
    assert made.dtype == np.float32
    np.testing.assert_array_equal(made, [[-1, 0], [1, NAN_target_values], [NAN_target_values, 0]])
    np.testing.assert_array_equal(scale.restored(made), targets)
    assert TargetScale.from_json(scale.to_json()).to_json() == scale.to_json()


def test_one_number_comes_back_as_one() -> None:
    scale = TargetScale.fit(np.array([[2.0], [4.0]]), is_single=True)
    assert scale.restored(np.array([[1.0], [-1.0]])).tolist() == [4.0, 2.0]


@pytest.mark.filterwarnings("ignore:All known values")
def test_a_constant_target_is_predicted() -> None:
    """The network's own output was added to it; the deviation of equal numbers is not always 0."""
    targets = np.full((3, 1), 0.1)
    assert np.std(targets) > 0
    scale = TargetScale.fit(targets, is_single=True)
    assert scale.standardised(targets).tolist() == [[0.0]] * 3
    assert scale.restored(np.array([[-4.41], [3.0]])).tolist() == [0.1, 0.1]


def test_a_constant_target_is_told() -> None:
    targets = np.array([[1.0, 2.0], [1.0, 3.0], [np.nan, 4.0]])
    with pytest.warns(IGSDWarning, match="known values of target logp are equal"):
        TargetScale.fit(targets, is_single=False, names=("logp", "mu"))
    with pytest.warns(IGSDWarning, match="are equal, or nearly"):  # squares of which are 0
        TargetScale.fit(np.array([[1e-300], [2e-300]]), is_single=True)


def test_names_for_other_targets() -> None:
    with pytest.raises(DataError, match=r"a name for each of the 2 targets\. Got 1: a"):
        TargetScale.fit(np.ones((3, 2)), is_single=False, names=("a",))


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, 2.0], r"each of the 3 graphs\. Got shape \(2,\)"),
        ([1.0, np.nan, 1.0], "finite numbers >= 0"),
        ([1.0, -1.0, 1.0], "finite numbers >= 0"),
        ([0.0, 0.0, 5.0], "not only zeros where y is known"),
        (["a", "b", "c"], "must hold numbers"),
    ],
)
def test_weights_that_weigh_nothing(weights: Any, message: str) -> None:
    """They ended in an IndexError, a ZeroDivisionError or an error of scikit-learn."""
    scale = TargetScale.fit(np.array([[1.0], [2.0], [4.0]]), is_single=True)
    with pytest.raises(DataError, match=message):
        scale.score([1.0, 2.0, None], np.array([1.0, 2.0, 3.0]), weights)
    with pytest.raises(DataError, match=message):
        accuracy(np.array([0, 1, -1]), np.eye(3), weights)


def test_targets_beyond_those_of_models() -> None:
    with pytest.raises(DataError, match=r"at most 3.4e\+38 .* Graph 1 has \[1.e\+300\]"):
        read_targets([0.5, 1e300, float("nan")], 3)


def test_masked_labels_are_missing() -> None:
    """The mask was ignored, and what it hid was learned."""
    masked = np.ma.masked_array([0, 1, 1, 0], mask=[True, False, False, False])
    assert encode_classes(masked, 4)[0].tolist() == [-1, 1, 1, 0]
    targets, _ = read_targets(np.ma.masked_array([1.0, 2.0], mask=[False, True]), 2)
    np.testing.assert_array_equal(targets[:, 0], [1.0, np.nan])


def test_targets_of_pandas_and_pytorch() -> None:
    """Missing values of pandas were refused, and a tensor with a gradient was a traceback."""
    pandas = pytest.importorskip("pandas")
    found, _ = read_targets([1.5, pandas.NA, pandas.NaT], 3)
    assert found[0] == 1.5
    assert np.isnan(found[1:]).all()
    table = pandas.DataFrame({"a": [1, None], "b": [0.5, 2]}, dtype="Float64")
    assert np.isnan(read_targets(table, 2)[0]).tolist() == [[False, False], [True, False]]
    tensor = torch.tensor([1.0, 2.0], requires_grad=True)
    assert read_targets(tensor, 2)[0][:, 0].tolist() == [1.0, 2.0]
