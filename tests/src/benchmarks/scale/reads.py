"""How long each kind of read takes while nobody else asks."""

import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

import httpx

from benchmarks.scale.mix import LIST
from benchmarks.scale.record import Record

_TIMES = 30
_ENOUGH_SECONDS = 3.0
_SEARCH_GOAL = 100.0
_MATRIX_GOAL = 300.0


@dataclass(frozen=True)
class Timed:
    """Milliseconds of a read, in the middle and at worst of some times."""

    name: str
    median: float
    worst: float
    goal: float | None


def reads(record: Record) -> list[tuple[str, str, float | None]]:
    """Return the reads: name, path, and the milliseconds that it may take where that is said."""
    module, tag = record.requirements[0]["module"], record.requirements[0]["tags"][0]
    often, seldom = record.word_in(0.1), record.word_in(0.01)
    many = [record.word_in(share) for share in (0.5, 0.3, 0.2)]
    described = record.requirements[0]["description"]
    top = record.requirements[0]["id"]
    last = max(0, len(record.requirements) - 40)
    requirements = "/requirements?limit=20"
    return [
        (LIST, requirements, None),
        ("list: far down", f"{requirements}&skip={last}", None),
        ("list: by title", f"{requirements}&sort=title", None),
        ("list: by priority", f"{requirements}&sort=priority:desc", None),
        ("list: last changed first", f"{requirements}&sort=updated_at:desc", None),
        ("list: of a module", f"{requirements}&module={module}", None),
        ("list: of two priorities, a status and a type", f"{requirements}&priority=high,low&status=!draft", None),
        ("list: with a tag", f"{requirements}&tag={tag}", None),
        ("list: not covered", f"{requirements}&coverage=none", None),
        ("list: with a suspect link", f"{requirements}&coverage=suspect", None),
        ("list: with a word in 10 % of the items", f"{requirements}&search={often}", _SEARCH_GOAL),
        ("list: with words that begin with a letter", f"{requirements}&search={often[0]}", _SEARCH_GOAL),
        ("list of 20 test cases", "/test-cases?limit=20", None),
        ("list of links", "/links?limit=20", None),
        ("list of suspect links", "/links?limit=20&suspect=true", None),
        ("review queue", "/suggestions?limit=20&status=pending&sort=score:desc", None),
        ("notifications", "/notifications", None),
        ("activity", "/activity?limit=20", None),
        ("audit log", "/audit-log?limit=20", None),
        ("search: two words", f"/search?limit=20&q={often}+{seldom}", _SEARCH_GOAL),
        ("search: a word in 1 % of the items", f"/search?limit=20&q={seldom}", _SEARCH_GOAL),
        ("search: a word in 10 % of the items", f"/search?limit=20&q={often}", _SEARCH_GOAL),
        ("search: a word in 50 % of the items", f"/search?limit=20&q={record.word_in(0.5)}", _SEARCH_GOAL),
        ("search: a letter that words begin with", f"/search?limit=20&q={often[0]}", _SEARCH_GOAL),
        ("search: two letters that words begin with", f"/search?limit=20&q={often[:2]}", _SEARCH_GOAL),
        ("search: the beginning of a word", f"/search?limit=20&q={seldom[:-1]}", _SEARCH_GOAL),
        ("search: a word of a step", "/search?limit=20&q=compare", _SEARCH_GOAL),
        ("search: with a typing error", f"/search?limit=20&q={seldom[:-2]}q{seldom[-2:]}", _SEARCH_GOAL),
        ("search: a word that is nowhere", "/search?limit=20&q=xylophonists", _SEARCH_GOAL),
        ("search: an external id", f"/search?limit=20&q={record.requirements[-1]['external_id']}", _SEARCH_GOAL),
        (
            "search: two words with typing errors",
            f"/search?limit=20&q={often[:-2]}q{often[-2:]}+{seldom}x",
            _SEARCH_GOAL,
        ),
        ("search: three words that many items have", f"/search?limit=20&q={'+'.join(many)}", _SEARCH_GOAL),
        ("search: a phrase that is nowhere", "/search?limit=20&q=%22shows+compare%22", _SEARCH_GOAL),
        ("search: a whole description", f"/search?limit=20&q={quote(described[:300])}", _SEARCH_GOAL),
        ("search: what numbers of external ids begin with", "/search?limit=20&q=1", _SEARCH_GOAL),
        ("search: what all external ids begin with", "/search?limit=20&q=R", _SEARCH_GOAL),
        ("matrix of a module", f"/reports/traceability-matrix?module={module}", _MATRIX_GOAL),
        ("matrix of everything, a page", "/reports/traceability-matrix", None),
        ("coverage by module", "/reports/coverage-by-module", None),
        ("gaps", "/reports/gaps", None),
        ("tree: a page of 50 roots", "/reports/trace-tree?limit=50", None),
        ("tree: what stands below a root", f"/reports/trace-tree?parent={top}", None),
        ("impact of a root", f"/requirements/{top}/impact", None),
        ("list: with all below each", f"{requirements}&expand=relations", None),
        ("list: covered below alone", f"{requirements}&rolled_coverage=covered_below", None),
        ("gate over what is verified with all below", "/reports/gate?min_rolled_verified=1", None),
    ]


def measure(base_url: str, token: str, asked: Sequence[tuple[str, str, float | None]]) -> list[Timed]:
    """Ask for each of them some times, one after the other; raises httpx.HTTPStatusError for a refusal."""
    timed = []
    headers = {"Authorization": f"Bearer {token}"}
    with httpx.Client(base_url=f"{base_url}/api/v1", headers=headers, timeout=60) as client:
        for name, path, goal in asked:
            client.get(path).raise_for_status()
            times: list[float] = []
            while len(times) < _TIMES and sum(times) < _ENOUGH_SECONDS:
                began = time.perf_counter()
                client.get(path).raise_for_status()
                times.append(time.perf_counter() - began)
            timed.append(Timed(name, statistics.median(times) * 1000, max(times) * 1000, goal))
    return timed
