"""One item against all of the other side, each time after a change."""

from pathlib import Path

import numpy as np

from acceptance.bench.engine import ours, peers
from acceptance.bench.engine.inputs import Inputs
from acceptance.bench.engine.measuring import TooSlow, measure
from acceptance.bench.engine.pairs import THRESHOLD
from acceptance.bench.engine.sizes import Size
from acceptance.bench.engine.table import header, row
from suggestion_service.engine import Algorithm

_QUERIES = 300
_ALGORITHMS: tuple[Algorithm, ...] = ("tfidf", "hybrid")
_P50_GOAL, _P99_GOAL = 5, 15


def main(folder: Path, sizes: list[Size], within: float) -> bool:
    """Print a table for each size."""
    for size in sizes:
        header(
            f"One item against all of the other side, of {size} items, at {THRESHOLD}: it is changed, then scored",
            *("p50 ms", "goal", "p99 ms", "goal", "times"),
        )
        inputs = Inputs(folder / f"{size.requirements}x{size.test_cases}")
        try:
            fitted = measure(peers.fit_again_for_one, within, size, THRESHOLD)
            row("sklearn: fitted again", f"{fitted.median * 1000:,.0f}", "", "", "", "1")
            measure(ours.vectorise, within, inputs, size)
            for algorithm in _ALGORITHMS:
                job = ours.score_one
                times = measure(job, within, inputs, size, algorithm, THRESHOLD, _QUERIES, within / 2).value
                p50, p99 = np.percentile(times, (50, 99)) * 1000
                row(f"ours: {algorithm}", f"{p50:.2f}", f"{_P50_GOAL}", f"{p99:.2f}", f"{_P99_GOAL}", f"{len(times)}")
        except TooSlow:
            print(f"Given up: it takes more than {within:,g} s.")
    return True
