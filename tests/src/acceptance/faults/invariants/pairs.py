"""A pair has at most one link and one pending suggestion; accepted means exactly one link, of the same score."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from acceptance.faults.databases import Row, System, query
from acceptance.faults.invariants.feed_reading import Event, feed

_LINKS = "SELECT id, requirement_id, test_case_id, link_source, confidence_score FROM links"
_SUGGESTIONS = "SELECT id, requirement_id, test_case_id, status, similarity_score, link_id FROM suggestions"


def violations(system: System) -> Iterator[str]:
    """What is wrong between links and suggestions, over the databases of catalog and suggestion."""
    links = {row["id"]: row for row in query(system, "catalog", _LINKS)}
    suggestions = {row["id"]: row for row in query(system, "suggestion", _SUGGESTIONS)}
    accepted_links = query(system, "catalog", "SELECT suggestion_id, link_id FROM accepted_suggestions")
    told = feed(system, "catalog")
    yield from _once("links", links.values())
    yield from _once("pending suggestions", [row for row in suggestions.values() if row["status"] == "pending"])
    yield from _orphans(system, links.values(), suggestions.values())
    yield from _accepted(suggestions, links, {row["suggestion_id"]: row["link_id"] for row in accepted_links}, told)
    yield from _linked_and_pending(links.values(), suggestions.values())
    yield from _reviewed_once(system, suggestions)


def _once(what: str, rows: Any) -> Iterator[str]:
    for pair, count in Counter(_pair(row) for row in rows).items():
        if count > 1:
            yield f"the pair {pair} has {count} {what}"


def _orphans(system: System, links: Any, suggestions: Any) -> Iterator[str]:
    requirements = {row["id"] for row in query(system, "catalog", "SELECT id FROM requirements")}
    test_cases = {row["id"] for row in query(system, "catalog", "SELECT id FROM test_cases")}
    for what, rows in (("link", links), ("suggestion", suggestions)):
        for row in rows:
            if row["requirement_id"] not in requirements or row["test_case_id"] not in test_cases:
                yield f"the {what} {row['id']} has lost an end: {row}"


def _accepted(
    suggestions: dict[Any, Row], links: dict[Any, Row], made: dict[Any, Any], told: list[Event]
) -> Iterator[str]:
    deleted = {event.data["link"]["id"] for event in told if event.type == "catalog.link.deleted"}
    for suggestion in suggestions.values():
        if suggestion["status"] != "accepted":
            continue
        link_id = suggestion["link_id"]
        if made.get(suggestion["id"]) != link_id:
            yield f"{suggestion} is accepted, and catalog made {made.get(suggestion['id'])} of it"
        link = links.get(link_id)
        if link is None:
            if str(link_id) not in deleted:
                yield f"{suggestion} is accepted, and its link was never deleted and is not there"
        elif link["link_source"] != "ai_confirmed" or link["confidence_score"] != suggestion["similarity_score"]:
            yield f"{suggestion} is accepted as another link: {link}"
    by_link = {link_id: suggestion_id for suggestion_id, link_id in made.items()}
    for link in links.values():
        if link["link_source"] == "ai_confirmed":
            suggestion = suggestions.get(by_link.get(link["id"]), {})
            if suggestion.get("status") != "accepted":
                yield f"{link} was made of a suggestion that is not accepted: {suggestion or by_link.get(link['id'])}"


def _linked_and_pending(links: Any, suggestions: Any) -> Iterator[str]:
    linked = {_pair(row) for row in links}
    for row in suggestions:
        if row["status"] == "pending" and _pair(row) in linked:
            yield f"{row} is pending, and its pair is linked"


def _reviewed_once(system: System, suggestions: dict[Any, Row]) -> Iterator[str]:
    """One event tells of each review, and each review is told; so is what was undone."""
    reviews: Counter[str] = Counter()
    undone: Counter[str] = Counter()
    for event in feed(system, "suggestion"):
        if event.type == "suggestion.suggestion.reviewed":
            reviews[event.data["suggestion"]["id"]] += 1
        elif event.type == "suggestion.suggestions.bulk_reviewed":
            reviews.update(suggestion["id"] for suggestion in event.data["suggestions"])
        elif event.type == "suggestion.suggestions.reopened":
            undone.update(suggestion["id"] for suggestion in event.data["suggestions"])
    for id_, count in reviews.items():
        if count - undone[id_] not in {0, 1}:
            yield f"the review of suggestion {id_} was told {count} times, and undone {undone[id_]} times"
    for row in suggestions.values():
        stands = row["status"] in {"accepted", "rejected"}
        if stands != (reviews[str(row["id"])] > undone[str(row["id"])]):
            yield f"what was told of reviews does not lead to {row}"


def _pair(row: Row) -> tuple[Any, Any]:
    return row["requirement_id"], row["test_case_id"]
