"""Proposals as they come in: what each is about is looked up, and what people have said of the same before."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from typing import Annotated, Any, NamedTuple
from uuid import UUID, uuid4

import orjson
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from chassis.core.problems import Conflict, Invalid, NotFound, Problem
from chassis.core.wording import shown
from chassis.db.database import Connection
from chassis.web.listing import Row
from chassis.web.peers import Peer
from chassis.web.validation import from_validation
from suggestion_service.proposals import catalog_calls, limits, repository, similar
from suggestion_service.proposals.authors import Author
from suggestion_service.proposals.catalog_calls import Checked
from suggestion_service.proposals.repository import FoundItem
from suggestion_service.proposals.schemas import (
    MOST_AT_ONCE,
    ChangeProposal,
    ConfirmLinkProposal,
    Kind,
    LinkProposal,
    NewProposal,
    RelationProposal,
    RequirementProposal,
    TestCaseProposal,
    UnlinkProposal,
)
from suggestion_service.review.refusals import moment
from suggestion_service.store import proposals
from suggestion_service.store.proposals import Changed

_NEW: TypeAdapter[NewProposal] = TypeAdapter(NewProposal)
_SIDES = {"requirement": "requirement", "test_case": "test case"}


class SentBatch(BaseModel):
    """Several proposals, each still as it was sent."""

    model_config = ConfigDict(extra="forbid")

    proposals: Annotated[list[Any], Field(min_length=1, max_length=MOST_AT_ONCE)]


CheckedProposal = (
    UnlinkProposal | ConfirmLinkProposal | RelationProposal | RequirementProposal | TestCaseProposal | ChangeProposal
)
Prepared = Problem | LinkProposal | tuple[CheckedProposal, Checked]
"""A proposal that was read, with what catalog says of it where it applies it, or why it is refused."""


class Made(NamedTuple):
    """A proposal as it is answered; `changed` is None where it was pending already."""

    answer: Row
    changed: Changed | None


async def prepare(catalog: Peer, author: Author, sent: Sequence[Any]) -> list[Prepared]:
    """Read proposals, and have catalog check those that it applies; return what each is, or why it is refused.

    Raises Unavailable when catalog does not answer.
    """
    read_all = [_read(one) for one in sent]
    asked = [
        {"kind": one.kind, "target": one.target.model_dump(mode="json", exclude_none=True), "body": body_of(one)}
        for one in read_all
        if not isinstance(one, Problem | LinkProposal)
    ]
    checked = iter(await catalog_calls.check(catalog, author, asked))
    prepared: list[Prepared] = []
    for one in read_all:
        if isinstance(one, Problem | LinkProposal):
            prepared.append(one)
        else:
            found = next(checked)
            prepared.append(found if isinstance(found, Problem) else (one, found))
    return prepared


def _read(sent: Any) -> NewProposal | Problem:
    kinds = [*Kind]
    kind = sent.get("kind") if isinstance(sent, dict) else None
    if isinstance(sent, dict) and kind not in kinds:
        message = "Say what kind of proposal it is" if kind is None else f"There is no kind {shown(kind)}"
        return Invalid.field("/kind", f"{message}: {', '.join(kinds)}.", "unknown_value")
    try:
        return _NEW.validate_python(sent)
    except ValidationError as error:
        # The kind is a step of pydantic's, and none of what was sent.
        errors = [{**one, "loc": ("body", *one["loc"][1:])} for one in error.errors(include_url=False)]
        return from_validation(RequestValidationError(errors))


def read_batch(sent: Any) -> list[Any]:
    """Return several proposals, each still as it was sent; raise RequestValidationError, which becomes a 422."""
    try:
        return SentBatch.model_validate(sent).proposals
    except ValidationError as error:
        errors = [{**entry, "loc": ("body", *entry["loc"])} for entry in error.errors(include_url=False)]
        raise RequestValidationError(errors) from None


async def make(connection: Connection, author: Author, batch: UUID, prepared: Prepared) -> Made:
    """Store a proposal, or return the same one that is pending; in a transaction.

    Raises NotFound for what there is not, Conflict for what is so already or was rejected, TooManyRequests.
    """
    if isinstance(prepared, Problem):
        raise prepared
    await proposals.lock_agent(connection, author.id)
    if isinstance(prepared, LinkProposal):
        return await _link(connection, author, batch, prepared)
    return await _checked(connection, author, batch, *prepared)


async def make_all(
    connection: Connection, author: Author, batch: UUID, prepared: Sequence[Prepared]
) -> tuple[list[dict[str, Any]], list[Changed]]:
    """Store proposals, each by itself; return a result for each, in order, and those that are new."""
    results, made = [], []
    for one in prepared:
        try:
            async with connection.transaction():
                result = await make(connection, author, batch, one)
        except Problem as problem:
            results.append(_failed(problem))
        else:
            status = result.answer["status"]
            results.append({"id": result.answer["id"], "status": status, "proposal": result.answer} | _FINE)
            if result.changed is not None:
                made.append(result.changed)
    return results, made


_FINE = {"code": None, "detail": None}


def _failed(problem: Problem) -> dict[str, Any]:
    errors = {"errors": [{"pointer": e.pointer, "message": e.message, "code": e.code} for e in problem.errors]}
    status = problem.code if problem.code == similar.CODE else "error"
    about = {"status": status, "code": problem.code, "detail": problem.detail}
    return {"id": None, "proposal": None, **problem.members, **(errors if problem.errors else {}), **about}


async def _link(connection: Connection, author: Author, batch: UUID, proposal: LinkProposal) -> Made:
    requirement = await _item(connection, "requirement", proposal.target.requirement)
    test_case = await _item(connection, "test_case", proposal.target.test_case)
    target = {"requirement": str(requirement.id), "test_case": str(test_case.id)}
    link_id = await repository.link_of(connection, requirement.id, test_case.id)
    if link_id is not None:
        raise Conflict(
            f"{_named(requirement)} and {_named(test_case)} are linked already (link {link_id}).",
            code="link_exists",
            members={"link_id": link_id},
        )
    rejected = await repository.rejected(connection, requirement, test_case)
    if rejected is not None:
        when = "" if rejected.reviewed_at is None else f" on {moment(rejected.reviewed_at)}"
        why = f": {rejected.feedback}" if rejected.feedback else ", without saying why"
        raise Conflict(
            f"{rejected.reviewed_by or 'Somebody'} rejected{when} that {_named(requirement)} and {_named(test_case)}"
            f" belong together{why.rstrip('.')}. It can be proposed again once one of the two says something else.",
            code="pair_rejected",
            members=_members(rejected),
        )
    score = await repository.pending_score(connection, requirement.id, test_case.id)
    return await _store(connection, author, batch, proposal, target, (requirement, test_case), score)


def _members(rejected: repository.Rejected) -> dict[str, Any]:
    return {
        "reviewed_by": rejected.reviewed_by,
        "reviewed_at": rejected.reviewed_at,
        "feedback": rejected.feedback,
    }


async def _checked(
    connection: Connection, author: Author, batch: UUID, proposal: CheckedProposal, checked: Checked
) -> Made:
    if isinstance(proposal, RequirementProposal | TestCaseProposal):
        await similar.check(connection, proposal)
    digest = digest_of(proposal.kind, checked.target, body_of(proposal))
    rejected = await repository.rejected_same(connection, digest)
    if rejected is not None:
        when = "" if rejected.reviewed_at is None else f" on {moment(rejected.reviewed_at)}"
        why = f": {rejected.feedback}" if rejected.feedback else ", without saying why"
        raise Conflict(
            f"{rejected.reviewed_by or 'Somebody'} rejected the same{when}{why.rstrip('.')}. Propose something else, or"
            " the same once what it is about has changed.",
            code="proposal_rejected",
            members=_members(rejected),
        )
    items = await _known(connection, checked.target)
    return await _store(connection, author, batch, proposal, checked.target, items, None, checked.before)


async def _known(connection: Connection, target: Mapping[str, Any]) -> tuple[FoundItem | None, FoundItem | None]:
    requirement = target.get("requirement") or target.get("child")
    test_case = target.get("test_case")
    return (
        None if requirement is None else await repository.find_item(connection, "requirement", requirement),
        None if test_case is None else await repository.find_item(connection, "test_case", test_case),
    )


async def _store(
    connection: Connection,
    author: Author,
    batch: UUID,
    proposal: NewProposal,
    target: dict[str, Any],
    items: tuple[FoundItem | None, FoundItem | None],
    score: float | None,
    before: dict[str, Any] | None = None,
) -> Made:
    body = body_of(proposal)
    digest = digest_of(proposal.kind, target, body)
    same = await repository.same_pending(connection, author.id, digest)
    if same is None:
        await limits.check(connection, author.id)
        requirement, test_case = items
        new = proposals.NewProposal(
            id=uuid4(),
            kind=proposal.kind,
            requirement_id=None if requirement is None else requirement.id,
            test_case_id=None if test_case is None else test_case.id,
            target=target,
            body=body,
            before=before,
            digest=digest,
            rationale=proposal.rationale,
            evidence=[one.model_dump(mode="json") for one in proposal.evidence],
            confidence=proposal.confidence,
            engine_score=score,
            agent_id=author.id,
            agent_name=author.name,
            owner_id=author.owner_id,
            owner_email=author.owner_email,
            client=author.client,
            batch=batch,
            created_at=datetime.now(UTC),
            requirement_text_sequence=None if requirement is None else requirement.text_sequence,
            test_case_text_sequence=None if test_case is None else test_case.text_sequence,
        )
        changed = await proposals.insert(connection, new)
        assert changed is not None, "the agent is locked"
        return Made((await repository.get(connection, [new.id]))[new.id], changed)
    return Made((await repository.get(connection, [same]))[same], None)


async def _item(connection: Connection, side: str, reference: str) -> FoundItem:
    found = await repository.find_item(connection, side, reference)
    if found is None:
        raise NotFound(
            f"There is no {_SIDES[side]} with the id or external_id {shown(reference)} in this project. A new one is"
            " known here within a moment.",
            code=f"{side}_not_found",
        )
    return found


def _named(item: FoundItem) -> str:
    return item.external_id or shown(item.title)


def body_of(proposal: NewProposal) -> dict[str, Any]:
    """Return the body of a proposal as it is stored."""
    body = proposal.body
    return body if isinstance(body, dict) else body.model_dump(mode="json")


def digest_of(kind: str, target: Mapping[str, Any], body: Mapping[str, Any]) -> str:
    """Return what two proposals have in common that ask for the same."""
    return sha256(orjson.dumps([kind, target, body], option=orjson.OPT_SORT_KEYS)).hexdigest()
