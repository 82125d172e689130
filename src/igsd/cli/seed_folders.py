"""The run folder of ``igsd evaluate --recipe``, with a model for each seed."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from igsd.experiments.run_folder import RunFolder
    from igsd.experiments.runner import Plan, Trained


class SeedFolders:
    """The run folder of ``evaluate --recipe``: the first model at its top, the others below it."""

    def __init__(self, output: str | None, plan: Plan) -> None:
        from igsd.experiments.run_folder import RunFolder, claim, new_run_folder
        from igsd.experiments.runner import data_summary

        self.plan = plan
        self.about = {"recipe": plan.recipe, "data": data_summary(plan.graphs)}
        if output is None:
            self.folder: RunFolder = new_run_folder("runs", plan.graphs.name, plan.recipe)
        else:
            self.folder = RunFolder(output)
            claim(self.folder, force=plan.force, way_out="--force replaces it.")
        self.folder.create(self.about, plan.config)
        self.first: dict[str, Any] | None = None

    def __call__(self, trained: Trained) -> None:
        """Write a model that was just trained."""
        from igsd.cli.run_files import training_metrics, write_run_files
        from igsd.experiments.run_folder import RunFolder

        metrics = self.about | training_metrics(trained)
        config = self.plan.config_of(trained.seed)
        if self.first is None:
            self.first, folder = metrics, self.folder
            folder.create(metrics, config)
            write_run_files(folder, trained, self.plan.graphs)
        else:
            folder = RunFolder(self.folder / f"seed-{trained.seed}")
            folder.create(metrics, config)
            write_run_files(folder, trained, self.plan.graphs)
            folder.finish(metrics)

    def finish(self, table: dict[str, Any]) -> None:
        """Mark the folder as finished, with the table in its metrics."""
        self.folder.finish((self.first or self.about) | {"table": table})
        print(f"run folder: {self.folder.path}", file=sys.stderr)
