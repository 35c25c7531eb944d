"""Everything against everything: ours beside what people use today, on the same texts in the same run."""

from pathlib import Path

from benchmarks.engine import ours, peers, same_pairs
from benchmarks.engine.inputs import Inputs
from benchmarks.engine.measuring import Arguments, Job, Measured, TooSlow, Value, measure
from benchmarks.engine.sizes import Size
from benchmarks.engine.table import header, row, seconds
from suggestion_service.engine import ALGORITHMS

THRESHOLD = 0.3
_NAIVE = 50
_MOST_DENSE = 10**8
"""Pairs: more would take gigabytes."""
_GOALS = {Size(20_000, 50_000): (0.4, 150), Size(100_000, 100_000): (0.15, 400)}
"""At most so much of the best peer's time, and so many MB above the vectors."""
_HYBRID_GOAL = 4
_GROWTH = (Size(10_000, 10_000), Size(100_000, 100_000))
_GROWTH_GOAL = 120


def main(folder: Path, sizes: list[Size], within: float) -> bool:
    """Print a table for each size; return whether ours found the pairs that the peer finds."""
    tables = [_Table(Inputs(folder / f"{size.requirements}x{size.test_cases}"), size, within) for size in sizes]
    right = [table.fill() for table in tables]
    times = {table.size: table.ours["tfidf"] for table in tables if "tfidf" in table.ours}
    if times.keys() >= {*_GROWTH}:
        grown = times[_GROWTH[1]] / times[_GROWTH[0]]
        print(f"\ntfidf over {_GROWTH[1]} takes {grown:.0f} times as long as over {_GROWTH[0]}; goal {_GROWTH_GOAL}")
    return all(right)


class _Table:
    """What was measured at one size: seconds for all pairs, of each peer and of each algorithm of ours."""

    def __init__(self, inputs: Inputs, size: Size, within: float) -> None:
        self.size = size
        self.peers: dict[str, float] = {}
        self.ours: dict[str, float] = {}
        self._inputs = inputs
        self._within = within
        self._rows = peers.sample(size)

    def fill(self) -> bool:
        """Measure and print; return whether ours found the right pairs."""
        header(
            f"Scoring {self.size} items, pairs at {THRESHOLD} and above; each row by a process of its own",
            *("s", "pairs/s", "peak MB", "goal", "of best peer", "goal"),
        )
        self._naive()
        self._prepare()
        self._dense()
        for threads in (1, 2):
            self._sparse(threads)
        for algorithm in ALGORITHMS:
            name = f"ours: {algorithm}"
            scored = self._measure(name, ours.score, self._inputs, self.size, algorithm, THRESHOLD)
            if scored is not None:
                self.ours[algorithm] = scored.median
                self._row(name, scored.median, scored.peak, *self._judged(algorithm))
        if {"tfidf", "hybrid"} <= self.ours.keys():
            longer = self.ours["hybrid"] / self.ours["tfidf"]
            print(f"hybrid takes {longer:.1f} times as long as tfidf; goal {_HYBRID_GOAL}")
        if "tfidf" in self.ours and "sparse-dot-topn" in self.peers:
            return same_pairs.compare(self._inputs, self.size, self._rows, THRESHOLD)
        print("Whether the pairs are the same cannot be told.")
        return False

    def _naive(self) -> None:
        name = f"a fit for each pair, sample of {_NAIVE} x {_NAIVE}"
        fitted = self._measure(name, peers.fit_each_pair, _NAIVE)
        if fitted is not None:
            self._peer(name, fitted.median * self.size.pairs / _NAIVE**2, fitted.peak)

    def _prepare(self) -> None:
        for name, job in (
            ("sklearn: fit", peers.fit),
            ("ours: vectorise, once a text (engine.terms)", ours.vectorise),
            ("ours: load (Corpus.put)", ours.load),
        ):
            prepared = self._measure(name, job, self._inputs, self.size)
            if prepared is not None:
                taken = prepared.median if job is peers.fit else sum(prepared.seconds)
                row(name, seconds(taken), "", f"{prepared.peak / 1e6:,.0f}")
        self._measure("sklearn: fit of our terms", peers.fit_our_terms, self._inputs, self.size)

    def _dense(self) -> None:
        name = "sklearn: dense cosine"
        if self.size.pairs > _MOST_DENSE:
            row(name, f"left out: {self.size.pairs * 8 / 1e9:,.0f} GB")
            return
        compared = self._measure(name, peers.dense_cosine, self._inputs, peers.OUR_TERMS, THRESHOLD)
        if compared is not None:
            self._peer(name, compared.median, compared.peak)

    def _sparse(self, threads: int) -> None:
        sampled = "" if self._rows == self.size.requirements else f" ({self._rows:,} rows)"
        name = f"sparse-dot-topn, {threads} thread{'s' if threads > 1 else ''}{sampled}"
        job = peers.sparse_product
        product = self._measure(name, job, self._inputs, peers.OUR_TERMS, THRESHOLD, threads, self._rows)
        if product is not None:
            self._peer(name, product.value, product.peak)
            self.peers["sparse-dot-topn"] = product.value

    def _measure(
        self, name: str, job: Job[Arguments, Value], *arguments: Arguments.args, **named: Arguments.kwargs
    ) -> Measured[Value] | None:
        try:
            return measure(job, self._within, *arguments, **named)
        except TooSlow:
            row(name, f"over {self._within:,g}")
            return None

    def _peer(self, name: str, taken: float, peak: int) -> None:
        self.peers[name] = taken
        self._row(name, taken, peak)

    def _judged(self, algorithm: str) -> tuple[str, str, str]:
        """Return the cells beside a peak: its goal, the share of the best peer's time, and the goal of that."""
        share = f"{self.ours[algorithm] / min(self.peers.values()):.1%}" if self.peers else ""
        goals = _GOALS.get(self.size)
        return (f"{goals[1]}", share, f"{goals[0]:.0%}") if goals and algorithm == "tfidf" else ("", share, "")

    def _row(self, name: str, taken: float, peak: int, *judged: str) -> None:
        row(name, seconds(taken), f"{self.size.pairs / taken:,.0f}", f"{peak / 1e6:,.0f}", *judged)
