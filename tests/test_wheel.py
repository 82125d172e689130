from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
_OFFLINE = re.compile("NewConnectionError|name resolution|Network is unreachable|Max retries")


def _run(*command: str | Path, cwd: Path) -> str:
    """Run a command without this environment's igsd and data; return what it prints."""
    hidden = ("PYTHONPATH", "IGSD_DATA", "VIRTUAL_ENV")
    environment = {key: value for key, value in os.environ.items() if key not in hidden}
    environment["IGSD_CACHE"] = str(cwd / "cache")
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, env=environment, capture_output=True, text=True
    )
    if done.returncode and _OFFLINE.search(done.stderr):
        pytest.skip("pip reaches no package index")
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_the_wheel_works_in_an_empty_environment(tmp_path: Path) -> None:
    """Neither a dependency, a recipe, a template nor the default data set may be missing."""
    _run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", ".", ROOT, cwd=tmp_path)
    (wheel,) = tmp_path.glob("igsd-*.whl")
    _run(sys.executable, "-m", "venv", "fresh", cwd=tmp_path)
    bin_folder = tmp_path / "fresh" / "bin"
    constraints = ROOT / "constraints.txt"
    _run(bin_folder / "pip", "install", "-q", "-c", constraints, wheel, cwd=tmp_path)
    _run(bin_folder / "igsd", "train", "MUTAG", "--set", "epochs=1", "-o", "run", cwd=tmp_path)
    _run(bin_folder / "igsd", "report", "-o", "page.html", "--run", "run", cwd=tmp_path)
    assert "MUTAG" in (tmp_path / "page.html").read_text()
    found = _run(bin_folder / "pip", "list", "--format=freeze", cwd=tmp_path)
    assert not re.search("gensim|grakel|rdkit|optuna|tensorboard", found, re.IGNORECASE)
    code = "import igsd; igsd.make_method('graph2vec').fit(igsd.load_dataset('MUTAG'))"
    with pytest.raises(AssertionError, match=r"pip install \"igsd\[baselines\]\""):
        _run(bin_folder / "python", "-c", code, cwd=tmp_path)
