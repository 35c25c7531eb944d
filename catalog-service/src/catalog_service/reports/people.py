"""Whether reports name people, and what they say of who made, accepted and confirmed a link."""

from collections.abc import Iterable, Mapping, MutableMapping
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any

from pydantic import BaseModel, Field

from catalog_service.values import LinkSource
from chassis.db.erasure import without_pseudonyms

_MADE = {LinkSource.MANUAL: "made", LinkSource.AI_CONFIRMED: "accepted", LinkSource.IMPORTED: "imported"}


class People(StrEnum):
    """Whether a report names people."""

    SHOW = "show"
    HIDE = "hide"


class PeopleQuery(BaseModel):
    """Whether a report names people."""

    people: Annotated[
        People, Field(description="`hide` leaves out who made and confirmed links, and who recorded results.")
    ] = People.SHOW

    @property
    def shows_people(self) -> bool:
        """Whether people are named."""
        return self.people is People.SHOW


def hide_people(rows: Iterable[MutableMapping[str, Any]], names: Iterable[str]) -> None:
    """Leave out of rows, in place, who did something."""
    for row in rows:
        for name in names:
            row[name] = None


def tell_origin(link: Mapping[str, Any], *, has_people: bool) -> str:
    """Return how a link came to be, as it stands in a row of the matrix."""
    said = _MADE.get(link["link_source"], "made") + _who_and_when(link["linked_by"], link["linked_at"], has_people)
    score = link["confidence_score"]
    if link["link_source"] == LinkSource.AI_CONFIRMED and score is not None:
        said += f", suggested with a score of {score:.2f}"
    return said


def tell_confirmation(link: Mapping[str, Any], *, has_people: bool) -> str:
    """Return who confirmed a link after it was made, and for which versions of its items; "" for nobody."""
    if link["confirmed_at"] is None or link["confirmed_at"] == link["linked_at"]:
        return ""
    versions = f"{link['link_requirement_version']} and {link['link_test_case_version']}"
    return f"confirmed{_who_and_when(link['confirmed_by'], link['confirmed_at'], has_people)} for versions {versions}"


def _who_and_when(who: str | None, at: datetime | str, has_people: bool) -> str:
    day = at[:10] if isinstance(at, str) else f"{at:%Y-%m-%d}"
    by = f" by {without_pseudonyms(who)}" if who and has_people else ""
    return f"{by} on {day}"
