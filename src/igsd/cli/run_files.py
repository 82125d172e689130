"""The files that a finished training leaves in its run folder, the picture included."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from igsd.wording import counted

if TYPE_CHECKING:
    from igsd.experiments.run_folder import RunFolder
    from igsd.experiments.trained import Trained
    from igsd.graphs.graphset import GraphSet


def write_run_files(folder: RunFolder, trained: Trained, graphs: GraphSet) -> None:
    """Write model, embeddings, history and picture of a training into its folder."""
    from igsd.report.embedding_plot import save_embedding_plot

    folder.write_model(trained.model, trained.vectors)
    save_embedding_plot(
        folder / "embedding.png",
        trained.vectors,
        graphs.classes,
        graphs.class_names,
        title=f"{graphs.name}: {counted(len(graphs), 'graph')}",
    )


def training_metrics(trained: Trained) -> dict[str, Any]:
    """Return what ``metrics.json`` says of a training."""
    history = getattr(trained.model, "history_", [])
    return {
        "seed": trained.seed,
        "epochs": len(history),
        "final_loss": history[-1]["total"] if history else None,
        "seconds": trained.seconds,
        "started": trained.started,
        "embedding_dim": int(trained.vectors.shape[1]),
        "notes": list(getattr(trained.model, "notes_", ())),
    }
