"""Proposals as they come in: what each is about is looked up, and what people have said of the same before."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from hashlib import sha256
from typing import Annotated, Any, NamedTuple
from uuid import UUID, uuid4

import orjson
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from chassis.core.problems import Conflict, NotFound, Problem, TooManyRequests
from chassis.core.wording import counted, shown
from chassis.db.database import Connection
from chassis.web.listing import Row
from chassis.web.validation import from_validation
from suggestion_service.proposals import repository
from suggestion_service.proposals.authors import Author
from suggestion_service.proposals.repository import FoundItem
from suggestion_service.proposals.schemas import MOST_AT_ONCE, LinkProposal, NewProposal
from suggestion_service.review.refusals import moment
from suggestion_service.store import proposals
from suggestion_service.store.proposals import Changed

_NEW: TypeAdapter[NewProposal] = TypeAdapter(NewProposal)
_SIDES = {"requirement": "requirement", "test_case": "test case"}
_MOST_PENDING = 200
_MOST_PENDING_OF_DOUBTFUL = 20
_LOOKED_AT = 50
_ENOUGH = 10
_DOUBTFUL = 0.2
_HOUR = 3600


class SentBatch(BaseModel):
    """Several proposals, each still as it was sent."""

    model_config = ConfigDict(extra="forbid")

    proposals: Annotated[list[Any], Field(min_length=1, max_length=MOST_AT_ONCE)]


class Made(NamedTuple):
    """A proposal as it is answered; `changed` is None where it was pending already."""

    answer: Row
    changed: Changed | None


def read(sent: Any) -> NewProposal:
    """Return a proposal as it was sent; raise RequestValidationError, which becomes a 422."""
    with _answered_as_422():
        return _NEW.validate_python(sent)


def read_batch(sent: Any) -> SentBatch:
    """Return several proposals, each still as it was sent; raise RequestValidationError."""
    with _answered_as_422():
        return SentBatch.model_validate(sent)


@contextmanager
def _answered_as_422() -> Iterator[None]:
    try:
        yield
    except ValidationError as error:
        errors = [{**entry, "loc": ("body", *entry["loc"])} for entry in error.errors(include_url=False)]
        raise RequestValidationError(errors) from None


async def make(connection: Connection, author: Author, batch: UUID, proposal: NewProposal) -> Made:
    """Store a proposal, or return the same one that is pending; in a transaction.

    Raises NotFound for what there is not, Conflict for what is so already or was rejected, TooManyRequests.
    """
    await proposals.lock_agent(connection, author.id)
    return await _link(connection, author, batch, proposal)


async def make_all(
    connection: Connection, author: Author, batch: UUID, sent: Sequence[Any]
) -> tuple[list[dict[str, Any]], list[Changed]]:
    """Store proposals, each by itself; return a result for each, in order, and those that are new."""
    results, made = [], []
    for one in sent:
        try:
            async with connection.transaction():
                result = await make(connection, author, batch, read(one))
        except RequestValidationError as error:
            results.append(_failed(from_validation(error, NewProposal)))
        except Problem as problem:
            results.append(_failed(problem))
        else:
            results.append(
                {"id": result.answer["id"], "status": result.answer["status"], "proposal": result.answer} | _FINE
            )
            if result.changed is not None:
                made.append(result.changed)
    return results, made


_FINE = {"code": None, "detail": None}


def _failed(problem: Problem) -> dict[str, Any]:
    errors = {"errors": [{"pointer": e.pointer, "message": e.message, "code": e.code} for e in problem.errors]}
    about = {"status": "error", "code": problem.code, "detail": problem.detail}
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


async def _store(
    connection: Connection,
    author: Author,
    batch: UUID,
    proposal: NewProposal,
    target: dict[str, Any],
    items: tuple[FoundItem | None, FoundItem | None],
    score: float | None,
) -> Made:
    body = proposal.body.model_dump(mode="json")
    digest = _digest(proposal.kind, target, body)
    same = await repository.same_pending(connection, author.id, digest)
    if same is None:
        await _check_limits(connection, author)
        requirement, test_case = items
        new = proposals.NewProposal(
            id=uuid4(),
            kind=proposal.kind,
            requirement_id=None if requirement is None else requirement.id,
            test_case_id=None if test_case is None else test_case.id,
            target=target,
            body=body,
            before=None,
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


async def _check_limits(connection: Connection, author: Author) -> None:
    record = await repository.track_record(connection, author.id, _LOOKED_AT)
    is_doubtful = record.reviewed >= _ENOUGH and record.accepted < _DOUBTFUL * record.reviewed
    most = _MOST_PENDING_OF_DOUBTFUL if is_doubtful else _MOST_PENDING
    if record.pending < most:
        return
    why = f", since people accepted {record.accepted} of its last {record.reviewed}" if is_doubtful else ""
    raise TooManyRequests(
        f"{counted(record.pending, 'proposal')} of this agent wait for a person, and {most} may{why}. Withdraw some,"
        " or wait until they are reviewed.",
        retry_after=_HOUR,
        code="too_many_pending",
    )


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


def _digest(kind: str, target: Mapping[str, Any], body: Mapping[str, Any]) -> str:
    return sha256(orjson.dumps([kind, target, body], option=orjson.OPT_SORT_KEYS)).hexdigest()
