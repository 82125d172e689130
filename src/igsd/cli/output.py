"""What commands print besides their result, and the files that they leave in a run folder."""

import contextlib
import os
import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from igsd.baselines.registry import load_model, note_on_vectors
from igsd.errors import counted, warn_user
from igsd.experiments import trained as training
from igsd.experiments.run_folder import HELD_OUT, RunFolder
from igsd.experiments.trained import Trained
from igsd.files.atomic import STANDARD_OUTPUT
from igsd.files.columns import write_columns
from igsd.files.remote import local_path
from igsd.graphs.download import Progress
from igsd.graphs.graphset import GraphSet
from igsd.graphs.labels import GraphLabels
from igsd.graphs.open import open_data
from igsd.graphs.readers.text_table import is_table
from igsd.progress import Advance, printable, progress_bar, raw


def say_note(text: str) -> None:
    """Print a note on standard error."""
    print(f"igsd: note: {printable(text)}", file=sys.stderr)


def seen_line(graphs: GraphSet, config: Any) -> str:
    """Return a line about what a network sees of nodes and edges; empty for other methods."""
    if "checkpoint" not in config.besides:
        return ""
    from igsd.training.fit import fit_features

    return f"\nsees {fit_features(graphs, config).used}"


def open_model(path: str) -> Any:
    """Load a model; print a note if its columns are similarities to training graphs."""
    model = load_model(path)
    if (note := note_on_vectors(model)) is not None:
        say_note(note)
    return model


def open_graphs(data: str, *, quiet: bool = False, **reading: Any) -> GraphSet:
    """Open DATA, showing progress on standard error where that takes long the first time.

    ``reading``: ``smiles_column`` and ``standardise``, as for ``open_data``.
    """
    with shown_opening(data, quiet=quiet) as progress:
        return open_data(data, progress=progress, **reading)


def reading_of(args: Namespace, stored: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return how to read a table: by the options, those not given as a run ``stored`` them."""
    stored = stored or {}
    return {
        "smiles_column": args.smiles_column or stored.get("smiles_column"),
        "standardise": args.standardise or stored.get("standardised", ""),
    }


def open_for_model(args: Namespace, model: Any, *, quiet: bool = False) -> GraphSet:
    """Open DATA for ``model``: molecules are standardised as those that it was trained on.

    Prints a note where that is done, and where it is not and the two differ.
    """
    stored = (RunFolder(args.model).metrics() or {}).get("data")
    if stored is None and not model.standardised_:
        return open_graphs(args.data, quiet=quiet, **reading_of(args))
    # A model file of an earlier version does not say how its molecules were read.
    trained = model.standardised_ or (stored or {}).get("standardised", "")
    as_trained = not args.standardise and is_table(local_path(args.data))
    found = {"standardised": trained} if as_trained else {}
    graphs = open_graphs(args.data, quiet=quiet, **reading_of(args, found))
    if graphs.standardised != trained:
        words = [
            f"standardised ({how})" if how else "not standardised"
            for how in (trained, graphs.standardised)
        ]
        say_note(
            f"the model was trained on molecules that were {words[0]}, and those of {args.data} "
            f"are {words[1]}: their vectors are not quite comparable."
        )
    elif trained and not args.standardise and found:
        say_note(f"molecules are standardised ({trained}), as those of the model's training were.")
    return graphs


def say_result(text: str, output: str) -> None:
    """Print the last line of a command, on standard error if standard output holds the result."""
    print(printable(text), file=sys.stderr if output == STANDARD_OUTPUT else sys.stdout)


@contextlib.contextmanager
def shown_opening(data: str, *, quiet: bool) -> Iterator[Progress | None]:
    """Yield a progress callback for opening DATA, or None if ``quiet``.

    A terminal shows what is being opened, since even reading a known data set can take seconds.
    """
    if quiet:
        yield None
        return
    advance: Advance | None = None
    position = 0

    def show(done: int, total: int | None) -> None:
        nonlocal advance, position
        if advance is None:  # most data sets open without a single call, and need no bar
            _clear_line()
            if not os.path.isdir(data):
                say_note(f"{data} is downloaded or read for the first time, then cached.")
            bar = progress_bar(data, total or 0, shown=total is not None)
            advance = stack.enter_context(bar)
        advance(done - position)
        position = done

    with contextlib.ExitStack() as stack:
        if sys.stderr.isatty():
            print(f"opening {printable(data)} ...", end="\r", file=raw(sys.stderr), flush=True)
            stack.callback(_clear_line)
        yield show


def _clear_line() -> None:
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=raw(sys.stderr), flush=True)


def print_quality(model: Any) -> None:
    """Print how a predictor did on labels that were held out, beside the models it is made of."""
    if not hasattr(model, "ensembles_"):
        return
    from igsd.report.aligned import print_rows

    for number in range(len(model.ensembles_)):
        rows = model.summary(number)
        names = getattr(getattr(model, "scale_", None), "names", ())
        title = "cross-validation inside the labels"
        title += f", {names[number]}" if len(names) > 1 else ""
        print_rows(rows, title, [0])
    for note in model.notes_:
        warn_user(note)  # what the fit has said already is not printed again


def print_hidden(score: Mapping[str, Any], names: tuple[str, ...]) -> None:
    """Print how well the model predicts the labels that were hidden from it."""
    if "accuracy" in score:
        graphs = counted(score["graphs"], "graph")
        correct = f"{100 * score['accuracy']:.1f} % of the {graphs} with hidden labels"
        print(f"{correct} predicted correctly")
    elif "mae" in score:
        areas = score.get("roc_auc", {})
        pairs = [pair for pair in zip(names, score["mae"], strict=True) if pair[0] not in areas]
        for title, some in (("mean absolute error", pairs), ("ROC-AUC", areas.items())):
            values = ", ".join(f"{name} {value:.4g}" for name, value in some)
            print(f"{title} where labels were hidden: {values}\n" * bool(values), end="")


def draw_embedding(
    path: Path, trained: Trained, graphs: GraphSet, labels: GraphLabels | None
) -> None:
    """Draw the embedding, coloured by class or by the (first) number where it is known."""
    from igsd.report.plots import embedding_plot, number_plot

    title = f"{graphs.name}, with labels"
    if labels is None:
        title = f"{graphs.name}: {counted(len(graphs), 'graph')}"
        plot = embedding_plot(trained.vectors, graphs.classes, graphs.class_names, title)
    elif labels.are_classes:
        names = tuple(trained.model.classes_.tolist())
        codes = [names.index(value) if value in names else -1 for value in labels.y]
        plot = embedding_plot(trained.vectors, np.array(codes), names, title)
    else:
        values = labels.y.reshape(len(graphs), -1)[:, 0]
        plot = number_plot(trained.vectors, values, labels.names[0], title)
    plot.save(path)


def write_run(
    folder: RunFolder, trained: Trained, graphs: GraphSet, labels: GraphLabels | None = None
) -> None:
    """Write model, embeddings, history and pictures of a training, and its pseudo-labels if any."""
    folder.write_model(trained.model, trained.vectors)
    if labels is not None and (held := training.held_out_columns(trained.model, graphs, labels)):
        write_columns(folder / HELD_OUT, held)
    draw_embedding(folder / "embedding.png", trained, graphs, labels)
    if not len(getattr(trained.model, "pseudo_labels_", ())):
        return
    from igsd.report.plots import pseudo_label_plot

    columns = training.pseudo_label_columns(trained.model, graphs, labels)
    write_columns(folder / "pseudo_labels.csv", columns)
    pairs = zip(columns["true"], columns["class"], strict=True)
    right = [None if true is None else true == guess for true, guess in pairs]
    counts = training.pseudo_label_counts([*columns["round"]], right)
    plot = pseudo_label_plot(counts, f"{graphs.name}, self-training")
    plot.save(folder / "pseudo_labels.png")
