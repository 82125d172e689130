"""The rules of the source tree that no linter checks."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts.shape import CONCEPTS, LIMITS, LOADED, TOTALS, Shape, modules_loaded_by_train

SOURCE = Path(__file__).parents[1] / "src" / "igsd"
FILES = sorted(SOURCE.rglob("*.py"))

FOUNDATION = {
    "errors",
    "progress",
    "limits",
    "processes",
    "workers",
}
ORDER = (
    "settings",
    "files",
    "graphs",
    "batches",
    "views",
    "encoders",
    "losses",
    "model",
    "training",
    "evaluation",
    "estimators",
    "baselines",
    "experiments",
    "report",
    "cli",
)
LEVELS = dict.fromkeys(FOUNDATION, 0) | {name: i for i, name in enumerate(ORDER, start=1)}
"""A file may import from its own level and from lower ones."""

PICKLERS = {"torch.load", "torch.save", "joblib.load", "joblib.dump", "pd.read_pickle"}

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def name_of(path: Path) -> str:
    return str(path.relative_to(SOURCE))


def level_of(path: Path) -> int:
    """Return the level of a file; the package's own top files lie above all."""
    relative = path.relative_to(SOURCE)
    if relative.parts[0] in ("__init__.py", "__main__.py"):
        return len(ORDER) + 1
    return LEVELS[relative.parts[0].removesuffix(".py")]


def imported(tree: ast.AST) -> Iterator[str]:
    """Yield the dotted name of every import, wherever in the file it stands."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


TREES = {path: ast.parse(path.read_text(), str(path)) for path in FILES}


def nodes(kind: type | tuple[type, ...]) -> Iterator[tuple[str, ast.AST]]:
    """Yield (file:line, node) of every node of a kind in the whole source."""
    for path, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, kind):
                yield f"{name_of(path)}:{node.lineno}", node


def test_there_is_something_to_check() -> None:
    assert len(FILES) > 40


def test_every_module_at_the_top_has_its_place() -> None:
    found = {path.relative_to(SOURCE).parts[0].removesuffix(".py") for path in FILES}
    assert found - {"__init__", "__main__"} == set(LEVELS)


def test_imports_go_one_way() -> None:
    own = {"__version__"}  # a name of the package's top file, not a module
    wrong = [
        f"{name_of(path)} imports {name}"
        for path, tree in TREES.items()
        for name in imported(tree)
        if name.startswith("igsd.")
        and name.split(".")[1] not in own
        and LEVELS[name.split(".")[1]] > level_of(path)
    ]
    assert wrong == []


def test_what_is_imported_is_there() -> None:
    """Also inside functions, which are run late, and where mypy takes it for a foreign package."""
    modules = {".".join(path.relative_to(SOURCE.parent).with_suffix("").parts) for path in FILES}
    modules = {name.removesuffix(".__init__") for name in modules}
    wrong = [
        f"{name_of(path)} imports {node.module}"
        for path, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and f"{node.module}.".startswith("igsd.")
        if node.module not in modules
    ]
    assert wrong == []


def test_nothing_is_pickled() -> None:
    wrong = [
        f"{name_of(path)} imports {name}"
        for path, tree in TREES.items()
        for name in imported(tree)
        if name.split(".")[0] in {"pickle", "dill", "cloudpickle", "shelve", "marshal"}
    ]
    for place, call in nodes(ast.Call):
        called = ast.unparse(call.func)
        options = {k.arg: ast.unparse(k.value) for k in call.keywords}
        loads = called in {"np.load", "numpy.load"} and "allow_pickle" not in options
        if called in PICKLERS or loads or options.get("allow_pickle", "False") != "False":
            wrong.append(f"{place} {called}")
    assert wrong == []


def test_no_device_is_written_down() -> None:
    wrong = [
        place
        for place, node in nodes(ast.Constant)
        if isinstance(node.value, str) and node.value.split(":")[0] in {"cuda", "cpu", "mps"}
    ]
    for place, call in nodes(ast.Call):
        if isinstance(call.func, ast.Attribute) and call.func.attr in {"cuda", "mps"}:
            wrong.append(place)
    assert wrong == []


def test_nothing_is_seeded_for_everybody() -> None:
    for path, tree in TREES.items():
        called = {ast.unparse(n.func) for n in ast.walk(tree) if isinstance(n, ast.Call)}
        assert not called & {"np.random.seed", "numpy.random.seed", "random.seed"}, name_of(path)
        if "torch.manual_seed" in called:
            # Allowed only where the caller's state comes back afterwards.
            assert "torch.random.set_rng_state" in called, name_of(path)


def test_no_catch_all_files() -> None:
    banned = {"utils", "util", "helpers", "common", "misc"}
    assert [name_of(path) for path in FILES if path.stem in banned] == []


def test_input_is_never_checked_by_assert() -> None:
    assert [place for place, _ in nodes(ast.Assert)] == []


def test_no_bare_except() -> None:
    assert [place for place, node in nodes(ast.ExceptHandler) if node.type is None] == []


def test_public_names_are_explained() -> None:
    silent = [name_of(path) for path, tree in TREES.items() if not ast.get_docstring(tree)]
    silent += [
        f"{name_of(path)}:{node.lineno} {node.name}"
        for path, tree in TREES.items()
        for node in public(tree)
        if not ast.get_docstring(node)
    ]
    assert silent == []


def public(tree: ast.Module | ast.ClassDef) -> Iterator[Definition]:
    """Yield public functions, classes and methods; the methods of a protocol speak by its own."""
    for node in tree.body:
        if not isinstance(node, Definition) or node.name.startswith("_"):
            continue
        decorators = {ast.unparse(d) for d in node.decorator_list}
        if isinstance(node, ast.ClassDef):
            yield node
            if not any("Protocol" in ast.unparse(base) for base in node.bases):
                yield from public(node)
        elif not decorators & {"overload", "typing.overload"}:
            yield node


FIGURES = Shape(SOURCE).figures(loaded=False)


@pytest.mark.parametrize("name", [name for name in FIGURES if name not in TOTALS])
def test_shape(name: str) -> None:
    """``python -m scripts.shape --names`` lists what was counted. Totals may grow later."""
    assert FIGURES[name] <= LIMITS[name]
    assert FIGURES[name] == 1 or name not in CONCEPTS


@pytest.mark.slow
def test_training_imports_little_more_than_it_needs() -> None:
    assert modules_loaded_by_train() <= LIMITS[LOADED]
