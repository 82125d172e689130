"""``igsd train --labels``: from graphs and few labels to a run folder with a predicting model."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from igsd.cli.label_job import LabelJob, label_job
from igsd.cli.run_end import RunEnd
from igsd.cli.run_place import RUNS
from igsd.run_metrics import resume_command
from igsd.wording import counted

if TYPE_CHECKING:
    import numpy as np


def run(args: argparse.Namespace) -> int:
    """Train, or go on training, and return the exit code."""
    job = label_job(args)
    if job.folder.state == "finished":
        print(f"{job.folder.path} is finished: nothing to do.")
        return 0
    return _train(args, job)


def _train(args: argparse.Namespace, job: LabelJob) -> int:
    """Train and leave the finished run folder."""
    from igsd.experiments.label_runs import estimator_for, hidden_score
    from igsd.experiments.records import data_summary

    folder, begin = job.folder, time.perf_counter()
    about = {"recipe": job.recipe, "data": data_summary(job.graphs) | {"source": args.data}}
    about["labels"] = _about_labels(args, job)
    parent = RUNS if args.output is None else None
    end = RunEnd(folder, resume_command(folder.path, about), job.is_new, parent)
    others = {"checkpoint": folder / "checkpoint.safetensors", "log_dir": args.log_dir}
    model = estimator_for(job.given).from_config(job.config, **others, verbose=not args.quiet)
    with end.while_training():
        folder.create(about, job.config)
        if not args.quiet:
            _say_start(job)
        model.fit(job.graphs, job.used.y, **_names(job))
    seconds = time.perf_counter() - begin
    with end.while_writing():
        _write_files(model, job)
        figures: dict[str, Any] = {"hidden": hidden_score(model, job.graphs, job.given, job.used)}
        figures |= {"pseudo_labels": len(model.pseudo_labels_), "epochs": len(model.history_)}
        folder.finish(about | figures | {"seed": job.config.seed, "seconds": round(seconds, 3)})
    _say_hidden(figures["hidden"], job.given.names)
    print(f"trained in {seconds:.1f} s: {folder.path}")
    return 0


def _say_start(job: LabelJob) -> None:
    task = "class" if job.given.are_classes else "number"
    num_used, graphs = int(job.used.is_known.sum()), counted(len(job.graphs), "graph")
    labels = f"{num_used} of {graphs} with a {task} to learn"
    print(f"{job.graphs.name}: {labels}, recipe {job.recipe}, run folder {job.folder.path}")


def _about_labels(args: argparse.Namespace, job: LabelJob) -> dict[str, Any]:
    """Return what the run folder says of its labels."""
    return {
        "source": args.labels,
        "names": list(job.given.names),
        "task": "classes" if job.given.are_classes else "numbers",
        "rate": args.label_rate,
        "used": int(job.used.is_known.sum()),
    }


def _names(job: LabelJob) -> dict[str, Any]:
    return {} if job.given.are_classes else {"target_names": job.given.names}


def _write_files(model: Any, job: LabelJob) -> None:
    """Write model, embeddings, history and pictures, and the pseudo-labels where there are any."""
    from igsd.column_file import write_columns
    from igsd.experiments.label_runs import pseudo_label_columns
    from igsd.report.pseudo_label_plot import save_pseudo_label_plot

    vectors = model.transform(job.graphs)
    job.folder.write_model(model, vectors)
    _draw(model, job, vectors)
    if len(model.pseudo_labels_):
        columns = pseudo_label_columns(model, job.graphs, job.given)
        write_columns(job.folder / "pseudo_labels.csv", columns)
        right = [
            None if true is None else true == guess
            for true, guess in zip(columns["true"], columns["class"], strict=True)
        ]
        plot = job.folder / "pseudo_labels.png"
        save_pseudo_label_plot(plot, columns["round"], right, f"{job.graphs.name}, self-training")


def _draw(model: Any, job: LabelJob, vectors: np.ndarray) -> None:
    """Draw the embedding, coloured by all that is known; of several numbers by the first."""
    from igsd.estimators.class_labels import codes_of
    from igsd.report.embedding_plot import save_embedding_plot, save_number_plot

    path, title = job.folder / "embedding.png", f"{job.graphs.name}, with labels"
    if not job.given.are_classes:
        values = job.given.y.reshape(len(vectors), -1)[:, 0]
        save_number_plot(path, vectors, values, job.given.names[0], title)
        return
    names = tuple(model.classes_.tolist())
    known = [value if value in names else None for value in job.given.y]
    codes = codes_of(known, model.classes_, len(job.graphs))
    save_embedding_plot(path, vectors, codes, names, title)


def _say_hidden(hidden: dict[str, Any], names: Sequence[str]) -> None:
    """Say how the model does where its labels were hidden."""
    if "accuracy" in hidden:
        share = f"{100 * hidden['accuracy']:.1f} %"
        print(f"of the {counted(hidden['graphs'], 'graph')} whose label was hidden, {share} right")
    elif "mae" in hidden:
        pairs = zip(names, hidden["mae"], strict=True)
        errors = ", ".join(f"{name} {value:.4g}" for name, value in pairs)
        print(f"mean absolute error where labels were hidden: {errors}")
