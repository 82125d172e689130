"""``Identity``: what makes two runs the same."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from igsd.experiments import ALGORITHM
from igsd.settings import Settings


@dataclass(frozen=True)
class Identity:
    """What makes two runs the same: settings, data, protocol and the version of the algorithm."""

    config: Settings
    checksum: str
    protocol: dict[str, Any]
    algorithm: int = ALGORITHM

    def differences(self, record: dict[str, Any]) -> list[str]:
        """Return what a stored record has otherwise, as texts ``key: stored, here: wanted``."""
        stored = {"checksum of the data": record["data"]["checksum"]}
        stored |= {"algorithm": record["algorithm"]}
        stored |= {f"protocol {key}": value for key, value in record["protocol"].items()}
        stored |= _learned(record["config"], self.config)
        wanted = {"checksum of the data": self.checksum, "algorithm": self.algorithm}
        wanted |= {f"protocol {key}": value for key, value in self.protocol.items()}
        wanted |= self.config.learned()
        return [
            f"{key} is {stored.get(key)!r} there and {wanted.get(key)!r} here"
            for key in sorted(stored.keys() | wanted.keys())
            if stored.get(key) != wanted.get(key)
        ]

    @property
    def digest(self) -> str:
        """Eight characters that tell this run from those of other settings or data."""
        parts = [self.config.learned(), self.checksum, self.protocol, self.algorithm]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:8]


def _learned(config: Mapping[str, Any], like: Settings) -> dict[str, Any]:
    """Return the settings of a stored configuration that decide what is learned.

    ``like``: a configuration of the same method, which says what settings there are. One that was
    added later has its default; one that is no longer there is kept as it was.
    """
    kept = like.known(config)
    gone = {key: value for key, value in config.items() if key not in kept}
    return type(like)().updated(kept).learned() | gone
