"""What narrows and orders a list of proposals."""

from datetime import datetime
from functools import cache
from typing import Annotated
from uuid import UUID

from pydantic import Field

from chassis.core.identity import Identity
from chassis.web.conditions import Conditions
from chassis.web.keyset import By, Order
from chassis.web.listing import Ids, PageQuery
from chassis.web.parameters import (
    FREE_ALTERNATIVES,
    Choice,
    Sort,
    alternatives,
    parse_choice,
    parse_expand,
    parse_ids,
    parse_own_ids,
    parse_words,
    sorts,
)
from suggestion_service.proposals.authors import agent_id
from suggestion_service.proposals.schemas import Kind, ProposalStatus

_MINE = "me"
_EXPANDABLE = frozenset({"texts", "diff"})
_SORTS = {"created_at": By("p.created_at", datetime), "reviewed_at": By("p.reviewed_at", datetime, nullable=True)}

Expand = Annotated[
    str | None,
    Field(
        description="`texts`: all that the items say; `diff`: of a change, what is different, word by word.",
        examples=["texts,diff"],
        json_schema_extra={"enum": ["texts", "diff", "texts,diff"]},
    ),
]


class ProposalFilters(PageQuery):
    """The filters of the list; what is left out does not narrow."""

    status: Annotated[str | None, alternatives(ProposalStatus)] = None
    kind: Annotated[str | None, alternatives(Kind)] = None
    agent: Annotated[
        str | None,
        Field(description=f"Ids or names of agents; `me` is the caller; {FREE_ALTERNATIVES}.", examples=["me"]),
    ] = None
    batch: Annotated[str | None, Field(description="One id, or several with commas.")] = None
    requirement_id: Annotated[str | None, Field(description="One id, or several with commas.")] = None
    test_case_id: Annotated[str | None, Field(description="One id, or several with commas.")] = None
    ids: Ids = None
    sort: Annotated[str, sorts(list(_SORTS))] = "created_at:desc"
    expand: Expand = None

    def conditions(self, caller: Identity) -> Conditions:
        """Return the conditions over `proposals p`; raises Invalid for an unknown value."""
        conditions = Conditions()
        conditions.choose("p.status", parse_choice("status", self.status, ProposalStatus))
        conditions.choose("p.kind", parse_choice("kind", self.kind, Kind))
        conditions.match(
            "agent",
            _agents(parse_words("agent", self.agent), caller),
            "(p.agent_id = ANY({values}::text[]) OR p.agent_name = ANY({values}::text[]))",
        )
        conditions.choose("p.batch", parse_ids("batch", self.batch))
        conditions.choose("p.requirement_id", parse_ids("requirement_id", self.requirement_id))
        conditions.choose("p.test_case_id", parse_ids("test_case_id", self.test_case_id))
        conditions.choose("p.id", parse_own_ids(self.ids))
        return conditions


def expanded(expand: str | None) -> frozenset[str]:
    """Return what is asked for beside the proposals; raise Invalid for what cannot be expanded."""
    return parse_expand(expand, _EXPANDABLE)


@cache
def order_by(sort: Sort) -> Order:
    """Return the order of a sort over `proposals p`; ties end at id."""
    return sort.order(_SORTS, By("p.id", UUID, descending=sort.descending))


def sort_fields() -> list[str]:
    """Return what the list can be sorted by."""
    return list(_SORTS)


def _agents(words: Choice[str] | None, caller: Identity) -> Choice[str] | None:
    if words is None:
        return None
    own = agent_id(caller)
    included, excluded = (
        tuple(own if word == _MINE else word for word in side) for side in (words.included, words.excluded)
    )
    return Choice(included, excluded)
