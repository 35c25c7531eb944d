"""One item against all of the other side, each time after a change."""

from pathlib import Path

import numpy as np

from benchmarks.engine import ours, peers
from benchmarks.engine.inputs import Inputs
from benchmarks.engine.measuring import TooSlow, measure
from benchmarks.engine.pairs import THRESHOLD
from benchmarks.engine.sizes import Size
from benchmarks.engine.table import header, row
from suggestion_service.engine import Algorithm

_QUERIES = 300
_GOALS: dict[tuple[Algorithm, bool], tuple[float, float]] = {
    ("tfidf", False): (5, 15),
    ("hybrid", False): (5, 15),
    ("hybrid", True): (30, 30),
}
"""Milliseconds, p50 and p99, by algorithm and whether there are embeddings."""


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
            for (algorithm, embedded), (p50_goal, p99_goal) in _GOALS.items():
                job = ours.score_one
                asked = ours.Asked(algorithm, THRESHOLD, embedded)
                times = measure(job, within, inputs, size, asked, _QUERIES, within / 2).value
                p50, p99 = np.percentile(times, (50, 99)) * 1000
                name = f"ours: {algorithm}" + " with embeddings" * embedded
                row(name, f"{p50:.2f}", f"{p50_goal}", f"{p99:.2f}", f"{p99_goal}", f"{len(times)}")
        except TooSlow:
            print(f"Given up: it takes more than {within:,g} s.")
    return True
