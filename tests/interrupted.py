"""Ctrl-C in the middle of a training with labels."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

import pytest

from igsd.training.label_task import LabelTask


def ctrl_c() -> None:
    """Send this process what Ctrl-C sends."""
    os.kill(os.getpid(), signal.SIGINT)


def after_label_steps(
    patch: pytest.MonkeyPatch, count: int, action: Callable[[], None] = ctrl_c
) -> None:
    """Do ``action`` once, after ``count`` optimiser steps; 1 is the first."""
    original, done = LabelTask.after_step, 0

    def after_step(task: LabelTask) -> None:
        nonlocal done
        original(task)
        done += 1
        if done == count:
            action()

    patch.setattr(LabelTask, "after_step", after_step)
