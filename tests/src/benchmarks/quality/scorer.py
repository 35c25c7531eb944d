"""A scorer of somebody else's: `SCORER DATA_SET SCORES.csv THRESHOLD` prints map, ap, f1 and f1_t as JSON."""

import json
import subprocess
import sys
from pathlib import Path

from benchmarks.quality.labelled import LabelledSet
from benchmarks.quality.measures import THRESHOLD, Figures
from suggestion_service.item_files import UnusableFile


def beside(data_sets: Path) -> Path:
    """Return the place where a scorer belongs to a folder of data sets."""
    return data_sets.resolve().parent / "tools" / "score_links.py"


def ask(scorer: Path, data_set: LabelledSet, scores: Path) -> Figures:
    """Let the scorer measure a file of scores.

    Raises UnusableFile when it fails or answers something else.
    """
    command = [sys.executable, str(scorer), str(data_set.folder), str(scores), str(THRESHOLD)]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        said = json.loads(answer.stdout)
        return Figures(*(float(said[name]) for name in ("map", "ap", "f1", "f1_t")))
    except (ValueError, KeyError, TypeError):
        last = (answer.stderr or answer.stdout).strip().rpartition("\n")[2]
        raise UnusableFile(f"{scorer} gives no figures for {data_set.folder}: {last or 'it prints nothing'}") from None
