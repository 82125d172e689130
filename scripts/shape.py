"""The shape of the source tree in figures: ``make shape`` prints it, ``--check`` holds its limits.

A number that is too large points at a concept that exists twice; folding unrelated things into one
file would lower it and help nobody. How each figure is counted stands in its function's docstring.
"""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

LIMITS = {
    "files": 170,
    "lines": 23_000,
    "import lines, % of code lines": 10.0,
    "modules with exactly one importer": 40,
    "modules loaded by igsd train MUTAG": 110,
    "dict[str, Any]": 60,
    "lines of the largest file": 450,
    "training cores": 1,
    "registries of methods": 1,
    "executors of runs": 1,
    "ways from records to a mean": 1,
}
"""The most that each figure may be. The two totals were held when one core, one run and one table
replaced many (``docs/design.md``); later features may exceed them."""

TOTALS = ("files", "lines")
CONCEPTS = tuple(name for name, limit in LIMITS.items() if limit == 1)
LOADED = "modules loaded by igsd train MUTAG"

_EXECUTOR = r"execute(_\w+)?|run_(all|jobs|methods|plans|runs|seeds|trials)"

_TRAIN = """\
import sys
from igsd.cli.main import main

code = main(["train", "MUTAG", "-o", sys.argv[1], "--quiet", "--set", "epochs=1"])
print(code, sum(name.partition(".")[0] == "igsd" for name in sys.modules))
"""


@dataclass(frozen=True)
class Shape:
    """The Python files below ``source``, the folder of the package, each parsed once."""

    source: Path = field(default=ROOT / "src" / "igsd")

    @cached_property
    def texts(self) -> dict[Path, str]:
        """The text of each file."""
        return {path: path.read_text() for path in sorted(self.source.rglob("*.py"))}

    @cached_property
    def trees(self) -> dict[Path, ast.Module]:
        """The syntax tree of each file."""
        return {path: ast.parse(text, str(path)) for path, text in self.texts.items()}

    def figures(self, *, loaded: bool = True) -> dict[str, float]:
        """Return every figure of ``LIMITS``; ``loaded=False`` leaves out the one that trains."""
        figures: dict[str, float] = {
            "files": len(self.texts),
            "lines": sum(text.count("\n") for text in self.texts.values()),
            "import lines, % of code lines": round(100 * self.import_share(), 1),
            "modules with exactly one importer": len(self.single_importers()),
            "dict[str, Any]": sum(text.count("dict[str, Any]") for text in self.texts.values()),
            "lines of the largest file": max(text.count("\n") for text in self.texts.values()),
            "training cores": len(self.training_cores()),
            "registries of methods": len(self.registries()),
            "executors of runs": len(self.executors()),
            "ways from records to a mean": len(self.summaries()),
        }
        if loaded:
            figures[LOADED] = modules_loaded_by_train()
        return {name: figures[name] for name in LIMITS if name in figures}

    def import_share(self) -> float:
        """Return import lines / code lines: neither blank nor a comment nor a docstring."""
        num_imports = num_code = 0
        for path, tree in self.trees.items():
            docstrings: set[int] = set()
            for node in ast.walk(tree):
                if isinstance(node, ast.Import | ast.ImportFrom):
                    num_imports += _num_lines(node)
                docstrings.update(_docstring_lines(node))
            for number, line in enumerate(self.texts[path].split("\n"), start=1):
                is_code = line.strip() and not line.strip().startswith("#")
                num_code += bool(is_code) and number not in docstrings
        return num_imports / num_code

    def single_importers(self) -> list[str]:
        """Return the modules that exactly one other file imports."""
        modules = {self._module(path) for path in self.trees}
        importers: Counter[str] = Counter()
        for tree in self.trees.values():
            importers.update(set(_imported(tree)) & modules)
        return sorted(name for name in modules if importers[name] == 1)

    def training_cores(self) -> list[str]:
        """Return the functions that prepare a training and run it: those that call the loop."""
        return [
            f"{self._module(path)}.{function.name}"
            for path, tree in self.trees.items()
            for function in _functions(tree)
            if any(name.rpartition(".")[2] == "run_training" for name in _called(function))
        ]

    def registries(self) -> list[str]:
        """Return the module-level dictionaries that are typed or named as methods by name."""
        found = []
        for path, tree in self.trees.items():
            for node in tree.body:
                if isinstance(node, ast.AnnAssign):
                    target, typed = node.target, ast.unparse(node.annotation)
                elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict):
                    target, typed = node.targets[0], "dict"
                else:
                    continue
                name = ast.unparse(target)
                is_dict = typed.lower().startswith(("dict", "mapping"))
                if is_dict and (name.endswith("METHODS") or re.search(r"Method\]$", typed)):
                    found.append(f"{self._module(path)}.{name}")
        return found

    def executors(self) -> list[str]:
        """Return the functions of ``experiments`` that execute many runs: ``run_jobs``, ...

        Those in a module that calls another of them only choose what it executes.
        """
        found = {
            f"{self._module(path)}.{function.name}": path
            for path, tree in self.trees.items()
            if path.relative_to(self.source).parts[0] == "experiments"
            for function in _functions(tree)
            if re.fullmatch(_EXECUTOR, function.name)
        }
        names = {name.rpartition(".")[2] for name in found}
        return [
            name
            for name, path in found.items()
            if not set(_called(self.trees[path])) & (names - {name.rpartition(".")[2]})
        ]

    def summaries(self) -> list[str]:
        """Return the modules from ``experiments`` on that compute a spread over seeds: np.std."""
        return [
            self._module(path)
            for path, tree in self.trees.items()
            if path.relative_to(self.source).parts[0] in ("experiments", "report", "cli")
            and {"np.std", "numpy.std", "statistics.stdev", "statistics.pstdev"}
            & set(_called(tree))
        ]

    def _module(self, path: Path) -> str:
        parts = path.relative_to(self.source.parent).with_suffix("").parts
        return ".".join(parts).removesuffix(".__init__")


def modules_loaded_by_train() -> int:
    """Return how many modules of igsd one epoch of ``igsd train MUTAG`` imports."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", _TRAIN, str(Path(folder) / "run")]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    code, count = done.stdout.split()[-2:]
    if code != "0":
        raise RuntimeError(f"igsd train MUTAG ended with {code}: {done.stderr}")
    return int(count)


def _functions(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    """Yield the functions of a module, those inside classes and functions left out."""
    yield from (node for node in tree.body if isinstance(node, ast.FunctionDef))


def _called(tree: ast.AST) -> Iterator[str]:
    """Yield the name of every function that is called, as it is written."""
    yield from (ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call))


def _imported(tree: ast.AST) -> Iterator[str]:
    """Yield the dotted name of every import, wherever in the file it stands."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _docstring_lines(node: ast.AST) -> range:
    """Return the numbers of the lines of a node's docstring."""
    if not isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module) or not node.body:
        return range(0)
    first = node.body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        return range(first.lineno, first.lineno + _num_lines(first))
    return range(0)


def _num_lines(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def main() -> int:
    """Print the table; with ``--check`` return 1 where a figure is above its limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="fail where a limit is exceeded")
    parser.add_argument("--names", action="store_true", help="also list what was counted")
    args = parser.parse_args()
    shape = Shape()
    figures = shape.figures()
    print(f"{'src/igsd':<36}{'now':>9}{'at most':>9}")
    for name, value in figures.items():
        mark = "  <-- above" if value > LIMITS[name] else ""
        print(f"{name:<36}{value:>9,}{LIMITS[name]:>9,}{mark}")
    if args.names:
        for title in ("single_importers", "training_cores", "registries", "executors", "summaries"):
            print(f"\n{title}:", *getattr(shape, title)(), sep="\n  ")
    is_above = any(v > LIMITS[name] for name, v in figures.items() if name not in TOTALS)
    return int(args.check and is_above)


if __name__ == "__main__":
    sys.exit(main())
