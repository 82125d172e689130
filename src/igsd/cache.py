"""Where igsd keeps what it can make again: parsed data sets, downloads and views."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def cache_dir() -> Path:
    """Return the folder for cached files: ``IGSD_CACHE``, or ``igsd`` in the user's cache folder.

    The folder is not made here; whoever writes into it makes it. It may be removed at any time.
    """
    chosen = os.environ.get("IGSD_CACHE")
    if chosen:
        return Path(chosen).expanduser()
    return _user_cache() / "igsd"


def _user_cache() -> Path:
    """Return the cache folder of the user, as each system names it."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
