"""``python -m scripts.costs results``: writes how long published runs took, for ``igsd reproduce``.

Run it on a machine like that of the records.
"""

from __future__ import annotations

import sys
from pathlib import Path

from igsd.experiments import work
from igsd.experiments.records import read_record, run_seconds
from igsd.files.atomic import write_text


def published_costs(records: Path) -> str:
    """Return the text of the file of costs: the mean seconds of every run in a folder."""
    seconds, sizes = dict[str, list[float]](), dict[str, int]()
    for path in sorted(records.glob("*/*/*/seed-*.json")):
        record = read_record(path)
        if record is not None and record["status"] == "ok":
            place = path.parent.relative_to(records).as_posix()
            seconds.setdefault(place, []).append(run_seconds(record))
            sizes[place] = record["data"]["graphs"]
    lines = [
        f'    "{place}": [{sum(times) / len(times):.3g}, {sizes[place]}]'
        for place, times in seconds.items()
    ]
    rows = ",\n".join(lines)
    return f'{{\n  "probe": {work.probe():.3g},\n  "runs": {{\n{rows}\n  }}\n}}\n'


if __name__ == "__main__":
    write_text(Path(work.__file__).with_name(work.COSTS), published_costs(Path(sys.argv[1])))
