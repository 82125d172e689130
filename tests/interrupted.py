"""Ctrl-C in the middle of a training."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

import pytest

from igsd.training.task import Task


def ctrl_c() -> None:
    """Send this process what Ctrl-C sends."""
    os.kill(os.getpid(), signal.SIGINT)


def after_steps(
    patch: pytest.MonkeyPatch,
    count: int,
    action: Callable[[], None] = ctrl_c,
    *,
    with_labels: bool = False,
) -> None:
    """Do ``action`` once, after ``count`` optimiser steps; 1 is the first.

    Counts the steps with labels, or those without: a pretraining has steps of its own.
    """
    original, done = Task.after_step, 0

    def after_step(task: Task) -> None:
        nonlocal done
        original(task)
        if (task.labels is not None) == with_labels:
            done += 1
            if done == count:
                action()

    patch.setattr(Task, "after_step", after_step)


def after_label_steps(
    patch: pytest.MonkeyPatch, count: int, action: Callable[[], None] = ctrl_c
) -> None:
    """Do ``action`` once, after ``count`` steps of a training with labels."""
    after_steps(patch, count, action, with_labels=True)
