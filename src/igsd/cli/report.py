"""``igsd report``: tables, figures, records and runs as one HTML page."""

import os
from argparse import Namespace
from pathlib import Path
from typing import Any

from igsd.cli.options import REPEATED, add_command, prepare_output
from igsd.cli.output import say_note
from igsd.errors import ConfigError
from igsd.files.atomic import known_suffix, write_text
from igsd.report.projection import MAP_METHODS

RECORDS = "results"
"""The default folder of records."""

_DESCRIPTION = """\
Makes one HTML file from the records in RECORDS: the tables and figures of the paper with our
results beside the paper's; for other data sets and runs a table of the methods and the picture of
`igsd compare`; and every record behind a figure. Comparisons of your own come first and give the
page its title. With --run, a run folder of `igsd train` or `igsd evaluate --recipe` gets a section:
losses, scores, a map of its embedding with the graphs and their nearest neighbours, and
pseudo-labels; with labels also predictions, and how reliable they are.

The file loads nothing from the network, so it can be sent and kept. Nothing is trained."""

_EXAMPLES = """\
examples:
  igsd report -o report.html
  igsd report runs/records -o mine.html --run runs/MUTAG-molecules-1
  igsd report -o report.html --run runs/first --run runs/second --map umap"""


def add_parser(commands: Any) -> None:
    """Add the command to the parser."""
    parser = add_command(commands, "report", run, _DESCRIPTION, _EXAMPLES)
    text = f"folder of records (default: {RECORDS}; may be left out if --run is given)"
    parser.add_argument("records", metavar="RECORDS", nargs="?", help=text)
    parser.add_argument("-o", "--output", metavar="FILE.html", required=True, help="the page")
    text = "a run folder to show; can be repeated"
    parser.add_argument("--run", metavar="RUN", dest="runs", help=text, **REPEATED)
    text = "how a run's embedding is projected to two dimensions (default: pca; umap needs "
    parser.add_argument("--map", choices=MAP_METHODS, help=f'{text}pip install "igsd[maps]")')


def run(args: Namespace) -> int:
    """Write the page and return the exit code."""
    from igsd.report.page.document import make_page

    known_suffix(args.output, (".html", ".htm"), "the page")
    say_folder = prepare_output(args.output)
    if args.map is not None and not args.runs:
        raise ConfigError("--map is for runs: name one with --run RUN, or leave it out.")
    records = args.records
    if records is None and (Path(RECORDS).is_dir() or not args.runs):
        records = RECORDS
    # A folder that is named twice, whatever its spelling, is one run.
    runs = list({os.path.realpath(path): path for path in reversed(args.runs)}.values())[::-1]
    page = make_page(records, runs, args.map or MAP_METHODS[0])
    if records is not None:
        _say_if_empty(Path(records))
    write_text(args.output, page)
    say_folder()
    kib = os.path.getsize(args.output) / 2**10
    print(f"{args.output}: " + (f"{kib:.0f} KiB" if kib < 2**10 else f"{kib / 2**10:.1f} MiB"))
    return 0


def _say_if_empty(records: Path) -> None:
    """Print a note if a folder has no records, and what it may be instead."""
    if next(records.glob("*/*/*/seed-*.json"), None) is not None:
        return
    text = f"{records} has no records (PROTOCOL/DATA/METHOD/seed-N.json)."
    if (records / "metrics.json").exists() or (records / "config.toml").exists():
        text += f" It is a run folder: --run {records} shows it."
    say_note(text)
