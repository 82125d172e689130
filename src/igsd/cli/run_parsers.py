"""The parsers of `igsd evaluate`, `compare`, `tune` and `reproduce`, the commands that make runs.

They stand apart from what the commands do, so that a help text imports neither PyTorch nor
scikit-learn.
"""

import importlib
from argparse import ArgumentParser, BooleanOptionalAction, Namespace
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from igsd.cli import options
from igsd.evaluation import CLASS_METRICS, HOLDOUTS, NUMBER_METRICS, PROTOCOLS
from igsd.experiments import FEW_LABELS_PROTOCOLS

DEFAULT_METHODS = "igsd,infograph,graph2vec,wl,untrained,histogram"
HOLDOUT_METHODS = "morgan,descriptors,pretrained,igsd,untrained"
"""The default methods of `igsd compare`, without and with --splits."""

CLASS_METHOD, NUMBER_METHOD = "igsd-supcon+self-training", "igsd-self"
"""The default methods of ``semi``, for classes and for numbers."""

_FEW_LABELS_HELP = "\n".join(
    f"  {name:<6}  " + text.replace("\n", "\n" + " " * 10)
    for name, text in FEW_LABELS_PROTOCOLS.items()
)

PROTOCOLS_HELP = """\
  nested  stratified 10-fold; C is chosen inside each training part by 5-fold search (default)
  paper   the C with the best 10-fold mean; optimistic, so printed beside nested
  gckn    the published folds (gckn-folds.zip and gin-folds.zip in the folder IGSD_DATA)"""

_COMPARE = f"""\
Runs methods on the graphs of DATA and scores all of them on the same folds: vectors by an RBF SVM,
kernels by an SVM on their own matrix, C from the same grid. Prints one table with accuracy, the
seconds to fit a method and represent the graphs, the processor seconds of that, and the peak memory
of its process (about 400 MiB of it are Python and its libraries), and draws it as a picture.

Each method runs in its own process. If it exceeds its time the table says '> limit', if it exceeds
its memory 'OMR' (out of memory), and the others continue. Every finished run leaves a
record, DIR/PROTOCOL/DATA/METHOD/seed-N.json (for igsd RECIPE instead of METHOD; DATA+COLUMN with
--labels), and is skipped when the same command is given again, so Ctrl-C loses no more than the run
under way.

A setting KEY applies to every method that has it, METHOD.KEY to one; `igsd train --method METHOD
--help` lists them. A method with changed settings is called METHOD+KEY-VALUE in the table (METHOD+
and eight characters if much is changed) and has its own records under that name; so has one with
another --recipe than the one that suits the graphs (METHOD+recipe-NAME).

protocols:
{PROTOCOLS_HELP}

With --splits, methods are scored on test parts instead: vectors are made without labels, a linear
model learns from the labels of the training part (--train-labels) and predicts the test part. One
record holds all splits of a method; asking for more splits or numbers of labels adds to it."""

_COMPARE_EXAMPLES = """\
examples:
  igsd compare MUTAG
  igsd compare MUTAG --methods igsd,untrained,histogram,majority
  igsd compare MUTAG --methods all --seeds 1 --records results/
  igsd compare MUTAG --methods igsd,my_package.my_module:MyMethod
  igsd compare MUTAG --methods igsd,wl --vectors mine.npy
  igsd compare molecules.csv --labels active --methods igsd,morgan,descriptors --splits scaffold
  igsd compare NCI1 --methods igsd,wl,wl-oa --set wl.iterations=4 --limit-seconds 3600"""

_EVALUATE = f"""\
Scores vectors of graphs by how well an RBF SVM tells the classes apart, or methods that learn from
few labels by their predictions.

`igsd evaluate MODEL DATA` scores one model, or the embeddings in a file (.npy, .csv, .parquet, one
row per graph of DATA), over several fold seeds. `igsd evaluate --methods NAME,NAME DATA` fits
methods for each seed, as `igsd compare` does, and --method NAME one. `igsd evaluate --recipe NAME
DATA` trains one IGSD model per seed, scores each under its own folds, and leaves a run folder.

The table of a recipe or a model ends with reference rows: untrained (the same network before
training), histogram (counts of node labels and degrees) and majority (the most frequent class).
Embeddings from a file, models without a network and models trained with labels have no untrained
network, so that row stays empty. If many graphs are indistinguishable by message passing, rows with
the twins of test graphs removed from training come first.

protocols:
{PROTOCOLS_HELP}
{_FEW_LABELS_HELP}"""

_EVALUATE_EXAMPLES = """\
examples:
  igsd evaluate runs/first MUTAG
  igsd evaluate vectors.npy MUTAG --protocol paper --json score.json
  igsd evaluate --recipe molecules MUTAG --seeds 5 --records results/
  igsd evaluate --methods igsd,wl,majority MUTAG
  igsd evaluate runs/mine molecules.csv --labels active
  igsd evaluate molecules molecules.csv --labels active --splits scaffold --train-labels 128,all
  igsd evaluate --protocol semi --methods gin,morgan B3DB --records results/
  igsd evaluate --protocol qm9 --method igsd QM9 --seeds 3 --records results/

Give the same command again after an interruption: with --records, finished seeds are skipped."""

_TUNE = """\
Searches the paper's grids for settings that suit DATA, by Optuna's TPE sampler, and writes the best
as a recipe: RUN/recipe.toml, for --config of train, evaluate and compare. The first trial is the
recipe itself, even if the paper's grid lacks one of its values, so the best trial never scores
below it. If your own --grid lacks the recipe's value, the first trial uses the first value listed.

The score comes from inside training parts, on seeds (100, 101, ...) that no table uses:
  nested  without labels: the SVM's accuracy on the inner folds, mean over the outer folds (default)
  semi    few labels: accuracy after the last epoch on splits of one split's training part
The score selects the recipe, so it is optimistic, and so is any later score on the same graphs.
Test on graphs that are not in DATA.

RUN also holds trials.csv and Optuna's trials.journal. Every trial is written when it ends; the same
command continues after Ctrl-C, with the same trials as if nothing had happened, and more --trials
add to it. With --jobs N several trials are chosen at a time, so that N trainings run side by
side."""

_TUNE_EXAMPLES = """\
examples:
  igsd tune MUTAG --dry-run
  igsd tune MUTAG --trials 50 --timeout 2h -o runs/tuned
  igsd tune MUTAG --grid epochs=10,20 --grid temperature=0.1,0.2,1 --set num_layers=4
  igsd tune IMDB-BINARY --protocol semi --seeds 5
  igsd train MUTAG --config runs/tuned/recipe.toml"""

_REPRODUCE = """\
Makes the runs that a table or figure of the paper still lacks, and prints it, our results beside
the paper's. Each run leaves a record, DIR/PROTOCOL/DATA/METHOD/seed-N.json (for igsd RECIPE instead
of METHOD). Runs with a record are skipped, so the same command continues after Ctrl-C or a crash,
which lose no more than the runs under way; commands that run at the same time in one folder share
the work. Records made by an older version of the algorithm are marked stale and made again. Where
a table shows the protocols nested and paper, both score the vectors of one fit.

NAME is one of:
  table-1           self-supervised methods and kernels, six data sets
  table-2           5 % of the labels, four data sets, honest and as the paper did
  table-3           with and without the projector
  gckn              the nested setting of GCKN
  figure-qm9        molecules: error ratio of each target
  figure-qm9-alone  the same with a network for each of three targets
  figure-labels     IMDB-B: accuracy against the share of labels
  figure-negatives  IMDB-B: accuracy against the batch size
  figure-projector  IMDB-B: accuracy against the projector's hidden size
  b3db              molecules that pass the blood-brain barrier, 5 % of the labels
  b3db-logbb        how much of them passes, 5 % of the values
  molecules         vectors and small models on seven sets of molecules, from 16 labels to all
  pretraining       which loss and how many molecules the pre-trained encoder learns from
  beyond            reference rows, WL-OA, twins removed, PROTEINS, DD, and your own data (--data)
  all               everything

On a cluster, start `dask scheduler`, then on each machine `dask worker ADDRESS --nthreads 1
--nworkers N`, all with the same folder for records and the same IGSD_DATA."""

_REPRODUCE_EXAMPLES = """\
examples:
  igsd reproduce table-1 --dry-run
  igsd reproduce table-1 --data MUTAG,PTC --methods igsd,wl --seeds 3
  igsd reproduce all --budget 2h
  igsd reproduce beyond --data molecules.csv
  igsd reproduce table-1 --backend dask --scheduler tcp://10.0.0.1:8786"""


Add = Callable[..., ArgumentParser]
"""Adds the command with a description and examples, and returns its parser."""


def add_parser(name: str, commands: Any) -> None:
    """Add one of ``MAKE_RUNS`` to the parser."""
    add = {
        "compare": _add_compare,
        "evaluate": _add_evaluate,
        "tune": _add_tune,
        "reproduce": _add_reproduce,
    }
    add[name](partial(options.add_command, commands, name, partial(_run, name)))


def _run(name: str, args: Namespace) -> int:
    """Run a command and return the exit code; its module is imported only now."""
    return int(importlib.import_module(f"igsd.cli.{name}").run(args))


def add_running_arguments(parser: Any, *, jobs: str) -> None:
    """Add the options of the executor; ``jobs``: what is the default of ``--jobs``."""
    text = "processes, -1 for all cores: runs side by side, or the folds of a single run "
    options.add_workers_arguments(parser, f"{text}(default: {jobs})", "runs are executed")
    text = "start no run after this time, e.g. 30m, 2h or 1h30m"
    parser.add_argument("--budget", metavar="TIME", action=options.Time, help=text)
    text = "time limit of a run in seconds, for fitting a method and scoring it (default: none; "
    text += "without labels a day for fitting alone). The table then says '> limit'"
    parser.add_argument("--limit-seconds", type=float, metavar="S", help=text)
    text = "memory limit of a run's process, with Python and its libraries (default: nearly all "
    text += "that is free); beyond it the table says 'OMR'"
    parser.add_argument("--limit-memory", type=float, metavar="GIB", help=text)


def add_scoring_arguments(parser: ArgumentParser, protocols: Sequence[str]) -> None:
    """Add protocol, seeds, classes and how vectors are scored."""
    text = "how methods are scored (default: nested)"
    parser.add_argument("--protocol", choices=protocols, default="nested", help=text)
    text = "seeds 0..N-1 (default: 5)"
    parser.add_argument("--seeds", type=int, default=5, metavar="N", help=text)
    text = "the classes, as in `igsd train --labels` (default: those of DATA; in a table the "
    text += "column called label, class or y); with --splits also numbers, or several columns"
    parser.add_argument("--labels", metavar="COLUMN|FILE", help=text)
    text = "score predictions on a test part of a fifth of the graphs: chosen at random, or whole "
    text += "Murcko scaffolds of molecules. Instead of --protocol; --seeds is the number of splits"
    parser.add_argument("--splits", choices=HOLDOUTS, help=text)
    text = "with --splits: how many labels of the training part are shown, e.g. 16,128,all "
    parser.add_argument("--train-labels", metavar="N,N,...", help=f"{text}(default: all)")
    text = f"with --splits: {', '.join((*CLASS_METRICS, *NUMBER_METRICS))}, or all (default: the "
    text += "first of classes or numbers)"
    parser.add_argument("--metrics", metavar="NAME,...", help=text)
    text = "scale features inside each training part; search: choose there, like C (default: yes)"
    parser.add_argument("--standardise", choices=("no", "yes", "search"), help=text)
    text = "also score with twins of test graphs (indistinguishable by message passing) removed "
    text += "from training (default: if over a tenth of the graphs are repeats)"
    parser.add_argument("--without-twins", action=BooleanOptionalAction, help=text)
    parser.add_argument("--json", metavar="FILE", help="also write the table as JSON; - prints it")
    parser.add_argument("--quiet", action="store_true", help="do not show progress")


def _add_compare(add_command: Add) -> None:
    description = f"{_COMPARE}\n\n{options.methods_text()}"
    parser = add_command(description, _COMPARE_EXAMPLES)
    options.add_data_argument(parser)
    text = f"the methods to compare, or all (default: {DEFAULT_METHODS}; with --splits "
    text += f"{HOLDOUT_METHODS})"
    parser.add_argument("--methods", metavar="NAME,NAME,...", help=text)
    text = "vectors made elsewhere (.npy, .csv, .parquet), one row per graph, or matched by a "
    text += "column id, name or file; a row named after the file. Can be repeated"
    parser.add_argument("--vectors", metavar="FILE", help=text, **options.REPEATED)
    add_scoring_arguments(parser, PROTOCOLS)
    add_running_arguments(parser, jobs="one run at a time, its folds on all cores")
    folder = f"{options.RUNS}/records"
    text = f"folder of the records (default: {folder})"
    parser.add_argument("--records", metavar="DIR", default=folder, help=text)
    text = f"the picture: .png, .svg or .pdf (default: {options.RUNS}/compare-DATA.png)"
    parser.add_argument("--plot", metavar="FILE", help=text)
    text = "replace broken records and those of other runs"
    parser.add_argument("--force", action="store_true", help=text)
    options.add_settings_arguments(parser)


def _add_evaluate(add_command: Add) -> None:
    forms = ("MODEL|EMBEDDINGS DATA", "--methods NAME,NAME DATA", "--recipe NAME DATA")
    usage = "\n       ".join(f"igsd evaluate {form} [options]" for form in forms)
    epilog = f"{_EVALUATE_EXAMPLES}\n\n{options.settings_table()}"
    parser = add_command(_EVALUATE, epilog, usage=usage)
    text = "MODEL or EMBEDDINGS, and DATA; or DATA alone"
    parser.add_argument("inputs", nargs="+", metavar="INPUT", help=text)
    add_scoring_arguments(parser, (*PROTOCOLS, *FEW_LABELS_PROTOCOLS))
    group = parser.add_argument_group("to fit methods")
    options.add_settings_arguments(group, chooses=False)
    text = "methods of `igsd compare --help`; for semi also igsd-supcon, igsd-self, gin (each also "
    text += "NAME+self-training), mean-teacher, infograph and infograph-star (default: "
    text += f"{CLASS_METHOD}); with --targets not those made of classes (default: "
    text += f"{NUMBER_METHOD})"
    group.add_argument("--methods", "--method", metavar="NAME,NAME", help=text)
    text = "for semi: the share of the training part with a label (default: 0.05)"
    group.add_argument("--label-rate", type=float, metavar="SHARE", help=text)
    text = "for qm9: the properties to learn together (default: the ten of the protocol); for "
    text += "semi: the one number to predict instead of classes"
    group.add_argument("--targets", metavar="NAME,NAME", help=text)
    add_running_arguments(group, jobs="one run at a time, its folds on all cores")
    text = "write one JSON record per run: DIR/PROTOCOL/DATA/RECIPE (or METHOD)/seed-N.json; "
    group.add_argument("--records", metavar="DIR", help=f"{text}DATA+COLUMN with --labels")
    text = "run folder of --recipe (default: runs/DATA-RECIPE-N, a new one)"
    group.add_argument("-o", "--output", metavar="RUN", help=text)
    text = "replace an existing run folder, and other records"
    group.add_argument("--force", action="store_true", help=text)


def _add_tune(add_command: Add) -> None:
    parser = add_command(_TUNE, _TUNE_EXAMPLES)
    options.add_data_argument(parser)
    text = "folder of the search (default: runs/tune-DATA)"
    parser.add_argument("-o", "--output", metavar="RUN", help=text)
    options.add_settings_arguments(parser)
    text = "values of a setting to try, instead of or in addition to the paper's; can be repeated. "
    text += "No other value is tried: if the recipe's is not among them, the first trial has the "
    text += "first of them. Settings given by --set are not searched"
    parser.add_argument("--grid", metavar="KEY=A,B,C", help=text, **options.REPEATED)
    text = "trials in all (default: 30)"
    parser.add_argument("--trials", type=int, default=30, metavar="N", help=text)
    text = "the same as --budget"
    parser.add_argument("--timeout", metavar="TIME", action=options.Time, dest="budget", help=text)
    parser.add_argument("--seed", type=int, default=0, help="seed of the search (default: 0)")
    group = parser.add_argument_group("how a trial is scored")
    group.add_argument("--protocol", choices=("nested", "semi"), default="nested", help="see above")
    text = "trainings of a trial, each with its own folds or split (default: 1; 3 for semi)"
    group.add_argument("--seeds", type=int, metavar="N", help=text)
    text = f"method of semi (default: {CLASS_METHOD})"
    group.add_argument("--method", metavar="NAME", help=text)
    text = "labelled share of semi (default: 0.05)"
    group.add_argument("--label-rate", type=float, metavar="SHARE", help=text)
    add_running_arguments(parser, jobs="one training at a time, its folds on all cores")
    parser.add_argument("--dry-run", action="store_true", help="list the grid, and exit")
    parser.add_argument("--force", action="store_true", help="replace the search that is in RUN")
    parser.add_argument("--quiet", action="store_true", help="do not report trials")


def _add_reproduce(add_command: Add) -> None:
    parser = add_command(_REPRODUCE, _REPRODUCE_EXAMPLES)
    parser.add_argument("name", metavar="NAME", help="a table or figure, or all")
    help_text = "folder of records (default: results)"
    parser.add_argument("--records", metavar="DIR", default="results", help=help_text)
    parser.add_argument("--data", metavar="NAME,...", help="only these data sets")
    parser.add_argument("--methods", metavar="NAME,...", help="only these methods")
    parser.add_argument("--seeds", type=int, metavar="N", help="seeds 0..N-1 (default: as printed)")
    add_running_arguments(parser, jobs="all cores")
    help_text = "list the runs to make and about how long they take, and exit"
    parser.add_argument("--dry-run", action="store_true", help=help_text)
    help_text = "replace broken records and those of other settings"
    parser.add_argument("--force", action="store_true", help=help_text)
    parser.add_argument("--quiet", action="store_true", help="do not show progress")
