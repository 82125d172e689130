"""``igsd pretrain``: an encoder of molecules from a corpus of SMILES."""

import argparse
import contextlib
from pathlib import Path
from typing import Any

from igsd.cli.options import (
    add_command,
    add_settings_files,
    add_workers_arguments,
    prepare_output,
    workers_of,
    written_settings,
)
from igsd.cli.output import say_note
from igsd.errors import OtherRunError, StorageError, counted
from igsd.experiments.environment import is_main_process
from igsd.files.locks import only_writer
from igsd.progress import progress_bar
from igsd.workers.pools import Workers

_DESCRIPTION = """\
Trains an encoder on the molecules of one or more tables with SMILES (.csv, .tsv, also .gz) and
writes it to FILE, for `igsd embed` and the other commands that take a MODEL. No labels are needed:
the targets are RDKit's descriptors and the counts of circular fragments (ECFP), beside Eq. InfoNCE.

Molecules and targets are computed once, by --jobs N processes or on a Dask cluster, and kept in the
cache (IGSD_CACHE). The training saves itself beside FILE; the same command continues it, with the
same weights at the end."""

_EXAMPLES = """\
examples:
  igsd pretrain chembl.csv.gz zinc.csv.gz -o encoder.safetensors
  igsd pretrain corpus.csv -o small.safetensors --set hidden_dim=64 --set epochs=3
  igsd embed encoder.safetensors molecules.csv -o vectors.parquet"""


def add_parser(commands: Any) -> None:
    """Add the command to the parser."""
    parser = add_command(commands, "pretrain", run, _DESCRIPTION, _EXAMPLES)
    parser.add_argument("corpus", metavar="CORPUS", nargs="+", help="tables with SMILES")
    parser.add_argument("-o", "--output", metavar="FILE", required=True, help="the encoder")
    parser.add_argument("--most", metavar="N", type=int, help="only the first N strings")
    parser.add_argument(
        "--start", metavar="FILE", help="begin with the weights of an encoder of this command"
    )
    add_settings_files(parser)
    jobs = "processes that read the molecules, -1 for all cores (default: the setting processes)"
    add_workers_arguments(parser, jobs, "molecules are read; training is here")
    parser.add_argument("--force", action="store_true", help="replace FILE if it exists")
    parser.add_argument("--quiet", action="store_true", help="no progress bar")


def run(args: argparse.Namespace) -> int:
    """Train, write the encoder and return the exit code."""
    from igsd.settings.groups import warn_without_effect
    from igsd.settings.igsd import PretrainConfig

    changes = written_settings(args)
    config = PretrainConfig().updated(changes)
    warn_without_effect(config, changes)
    workers = workers_of(args)
    if args.jobs is None and args.scheduler is None:
        workers = Workers(config.processes)
    written = prepare_output(args.output, *args.corpus, *([args.start] if args.start else []))
    checkpoint = Path(f"{args.output}.checkpoint")
    # A checkpoint beside a file is that of a run which was stopped while it wrote the file.
    may_replace = args.force or checkpoint.exists()
    writer = only_writer(Path(args.output), may_replace=may_replace)
    with writer if is_main_process() else contextlib.nullcontext():
        _pretrain(args, config, workers, checkpoint)
    if is_main_process():
        written()
    return 0


def _pretrain(args: argparse.Namespace, config: Any, workers: Workers, checkpoint: Path) -> None:
    """Read the corpus, train, write the encoder and say what it is."""
    from itertools import islice

    from igsd.estimators.molecules import MoleculeEncoder
    from igsd.graphs.corpus import corpus_texts, read_corpus

    texts = list(islice(corpus_texts(args.corpus), args.most))
    verbose = not args.quiet and is_main_process()
    with progress_bar("reading", len(texts), shown=verbose) as advance:
        corpus = read_corpus(
            texts,
            num_fragments=config.num_fragments,
            workers=workers,
            advance=advance,
        )
    if corpus.left_out and is_main_process():
        say_note(f"{counted(corpus.left_out, 'string')} left out: not molecules.")
    if checkpoint.exists() and is_main_process():
        say_note(f"continuing from {checkpoint}.")
    model = MoleculeEncoder.from_config(config, checkpoint=checkpoint, verbose=verbose)
    start = MoleculeEncoder.load(args.start) if args.start else None
    try:
        model.fit_corpus(corpus, start)
    except OtherRunError as error:
        raise StorageError(
            f"{checkpoint} was left by another `igsd pretrain`, which is not finished: "
            f"{error.difference}. Give that command again to finish it, choose another name with "
            f"-o, or delete {checkpoint} to give it up."
        ) from error
    if not is_main_process():
        return
    model.save(args.output)
    checkpoint.unlink(missing_ok=True)
    width = counted(model.n_features_out_, "number")
    print(f"vectors of {width}, from {counted(len(corpus.graphs), 'molecule')}: {args.output}")
