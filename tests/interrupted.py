"""Ctrl-C in the middle of a training with labels."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Any

import pytest

from igsd.training.label_task import LabelTask


def ctrl_c() -> None:
    """Send this process what Ctrl-C sends."""
    os.kill(os.getpid(), signal.SIGINT)


def after_task_steps(
    patch: pytest.MonkeyPatch, task_class: type, count: int, action: Callable[[], None]
) -> None:
    """Do ``action`` once, after ``count`` optimiser steps of such a task; 1 is the first."""
    original, done = task_class.after_step, 0  # type: ignore[attr-defined]

    def after_step(task: Any) -> None:
        nonlocal done
        original(task)
        done += 1
        if done == count:
            action()

    patch.setattr(task_class, "after_step", after_step)


def after_label_steps(
    patch: pytest.MonkeyPatch, count: int, action: Callable[[], None] = ctrl_c
) -> None:
    """Do ``action`` once, after ``count`` steps of a training with labels."""
    after_task_steps(patch, LabelTask, count, action)
