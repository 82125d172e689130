"""The run folder of ``igsd evaluate --recipe``, with a model for each seed."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from igsd.cli.run_place import RUNS
from igsd.errors import StorageError

if TYPE_CHECKING:
    from igsd.experiments.recipe_plan import RecipePlan
    from igsd.experiments.trained import Trained


class SeedFolders:
    """The run folder of ``evaluate --recipe``: the first model at its top, the others below it."""

    def __init__(self, output: str | None, plan: RecipePlan) -> None:
        from igsd.experiments.records import data_summary
        from igsd.experiments.run_folder import RunFolder, claim, new_run_folder

        self.plan = plan
        self.about = {"recipe": plan.recipe, "data": data_summary(plan.graphs)}
        self.first: dict[str, Any] | None = None
        self.parent = RUNS if output is None else None
        if output is None:
            self.folder: RunFolder = new_run_folder(RUNS, plan.graphs.name, plan.recipe)
        else:
            self.folder = RunFolder(output)
            claim(self.folder, force=plan.force, way_out="--force replaces it.")
        try:
            self.folder.create(self.about, plan.config)
        except StorageError:
            self.discard()
            raise

    def __call__(self, trained: Trained) -> None:
        """Write a model that was just trained; what cannot be written whole is removed again."""
        from igsd.cli.run_files import training_metrics, write_run_files
        from igsd.experiments.run_folder import RunFolder, discard

        metrics = self.about | training_metrics(trained)
        folder = self.folder
        if self.first is not None:
            folder = RunFolder(self.folder / f"seed-{trained.seed}")
        try:
            folder.create(metrics, self.plan.config_of(trained.seed))
            write_run_files(folder, trained, self.plan.graphs)
            if self.first is not None:
                folder.finish(metrics)
        except (StorageError, OSError):
            discard(folder)
            raise
        self.first = self.first or metrics

    def discard(self) -> None:
        """Remove the folder unless it holds a model already; if it does, say where it is."""
        from igsd.experiments.run_folder import discard

        if self.first is None:
            discard(self.folder, self.parent)
        else:
            print(f"run folder, not finished: {self.folder.path}", file=sys.stderr)

    def finish(self, table: dict[str, Any]) -> None:
        """Mark the folder as finished, with the table in its metrics."""
        self.folder.finish((self.first or self.about) | {"table": table})
        print(f"run folder: {self.folder.path}", file=sys.stderr)
