"""``OwnEncoderEstimator``: estimators whose ``encoder`` may be a module of the user's own."""

from __future__ import annotations

import os
from typing import Any, Self, TypeVar

from torch import nn

from igsd.config import Config
from igsd.errors import ConfigError
from igsd.estimator_base import ConfiguredEstimator

C = TypeVar("C", bound=Config)


class OwnEncoderEstimator(ConfiguredEstimator[C]):
    """Base of estimators that take the name of an encoder, or an ``nn.Module``.

    A file holds numbers, never code, so ``load`` is given the module again. Learned besides:
    ``own_encoder_``, the class of the module, None where the encoder was named.
    """

    own_encoder_: str | None

    @classmethod
    def _to_be_filled(
        cls,
        path: str | os.PathLike[str],
        config: C,
        own: str | None,
        encoder: nn.Module | None,
    ) -> Self:
        """Return an unfitted estimator for the model in a file, whose ``own_encoder_`` was ``own``.

        Raises ``ConfigError`` where that is needed and no ``encoder`` is given.
        """
        if own and encoder is None:
            raise ConfigError(
                f"{path} was trained with an encoder of your own, {own}. Load it with "
                f"{cls.__name__}.load(path, encoder=...)."
            )
        estimator = cls.from_config(config)
        return estimator if encoder is None else estimator.set_params(encoder=encoder)

    def _own_encoder(self) -> nn.Module | None:
        """Return the module that was given as ``encoder``, None where it was named."""
        given = self.get_params(deep=False)["encoder"]
        return given if isinstance(given, nn.Module) else None

    def _given_settings(self) -> dict[str, Any]:
        given = super()._given_settings()
        return given if self._own_encoder() is None else given | {"encoder": Config.encoder}

    def _set_config(self, config: C, own: nn.Module | None) -> None:
        self.config_ = config
        self.own_encoder_ = None if own is None else type(own).__qualname__
