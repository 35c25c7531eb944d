"""What this service counts for those who run it: runs, what they score, and what becomes of suggestions.

Every series is there from the start at 0, so that the first failure shows as a rise.
"""

from collections import Counter as Counts
from collections.abc import Iterable

from prometheus_client import Counter

from contracts.suggestion import ReviewedSuggestion
from suggestion_service.methods import METHODS

RUNS = Counter("traceline_generation_runs_total", "Runs that have ended.", ("algorithm", "status"))
PAIRS = Counter("traceline_generation_pairs_total", "Pairs that runs have scored.")
SECONDS = Counter("traceline_generation_seconds_total", "What runs took to score them and to store what they found.")
CREATED = Counter("traceline_suggestions_created_total", "Suggestions that were made.", ("method",))
REVIEWED = Counter("traceline_suggestions_reviewed_total", "Suggestions that were reviewed.", ("method", "decision"))

for _algorithm, _method in METHODS.items():
    CREATED.labels(_method)
    for _status in ("completed", "failed", "cancelled"):
        RUNS.labels(_algorithm, _status)
    for _decision in ("accepted", "rejected"):
        REVIEWED.labels(_method, _decision)


def count_reviews(reviewed: Iterable[ReviewedSuggestion]) -> None:
    """Count suggestions as they are after their review."""
    for series, number in Counts((one.suggestion_method, one.status) for one in reviewed).items():
        REVIEWED.labels(*series).inc(number)
