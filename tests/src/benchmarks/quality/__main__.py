"""Measures every algorithm over a folder of data sets, and prints what it finds; ends by itself."""

import argparse
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from acceptance import datasets
from benchmarks.quality import labelled, left_out, measures, report, scorer
from benchmarks.quality.labelled import LabelledSet
from benchmarks.quality.measures import Band, Figures
from benchmarks.quality.methods import PLAIN, methods
from suggestion_service.item_files import UnusableFile

_AGREE = 0.001


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure as the arguments say, by default those of the command line; return the exit code.

    It is 0; 1 when the scorer counts otherwise than we do; 2 when there is nothing to measure.
    """
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=datasets.folder(), metavar="DATASETS")
    parser.add_argument("--scorer", type=Path, help="default: ../tools/score_links.py beside DATASETS")
    asked = parser.parse_args(arguments)
    try:
        return _measure(labelled.find(asked.folder), _scorer(asked.scorer, asked.folder))
    except UnusableFile as refusal:
        sys.stderr.write(f"{refusal}\n")
        return 2


def _scorer(named: Path | None, folder: Path) -> Path | None:
    """Return the scorer to ask; None where nobody named one and none is beside the data sets."""
    place = named or scorer.beside(folder)
    if place.is_file():
        print(f"Figures by {place}, counted again by us.\n")
        return place
    if named:
        raise UnusableFile(f"There is no scorer {named}: say with SCORER=... where it is.")
    print(f"There is no scorer {place}: the figures are our own count (SCORER=... names another scorer).\n")
    return None


def _measure(found: list[LabelledSet], asked: Path | None) -> int:
    figures: dict[str, list[Figures]] = defaultdict(list)
    counted: dict[str, list[list[Band]]] = defaultdict(list)
    quarrels = []
    with tempfile.TemporaryDirectory(prefix="traceline-quality-") as place:
        scores = Path(place) / "scores.csv"
        for method, write in methods().items():
            for data_set in found:
                write(data_set, scores)
                matrix = data_set.matrix(scores)
                own = said = measures.figures(matrix, data_set.truth)
                if asked:
                    said = scorer.ask(asked, data_set, scores)
                    if max(abs(a - b) for a, b in zip(own, said, strict=True)) >= _AGREE:
                        quarrels.append(
                            f"{method} over {data_set.folder.name}: the scorer says {said}, we count {own}."
                        )
                figures[method].append(said)
                counted[method].append(measures.bands(matrix, data_set.truth))
    ours = [method for method in figures if method != PLAIN]
    parts = (
        report.table(figures, left_out.figures(found) if len(found) > 1 else {}, len(found)),
        report.each_set({method: figures[method] for method in ours}, found),
        report.in_bands({method: counted[method] for method in ours}, found),
        quarrels,
    )
    for part in filter(None, parts):
        print(*part, "", sep="\n")
    return 1 if quarrels else 0


if __name__ == "__main__":
    sys.exit(main())
