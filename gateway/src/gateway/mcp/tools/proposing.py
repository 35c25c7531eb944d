"""The tools `propose`, `my_proposals` and `withdraw`: what an agent suggests, and what people said to it."""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from chassis.core.problems import Invalid
from gateway.mcp.arguments import Arguments
from gateway.mcp.record import Json, Named, Record, in_path, named
from gateway.mcp.tools.tool import Tool

_MOST = 20
_TOLD = ("code", "detail", "errors", "similar", "link_id", "reviewed_by", "reviewed_at", "feedback")
"""What is told of a proposal that was not taken."""

Kind = Literal["link", "unlink", "confirm_link", "relation", "requirement", "test_case", "change"]


class Evidence(Arguments):
    type: Literal["file", "url", "commit", "run", "item"]
    ref: Annotated[str, Field(description="A path in the repository, an https address, a commit, a run or an item.")]
    lines: Annotated[str | None, Field(description="Such as 12-20.")] = None
    quote: Annotated[str | None, Field(max_length=500, description="What stands there.")] = None


class NewProposal(Arguments):
    kind: Kind
    target: Annotated[
        dict[str, Any] | None,
        Field(
            description='What it is about, by ids or keys. link, unlink, confirm_link: {"requirement": "REQ-3",'
            ' "test_case": "TC-7"}; relation: {"child": "REQ-3", "parent": "REQ-1"}; change: {"requirement": "REQ-3",'
            ' "version": 4} with the version that was read. New items have none.'
        ),
    ] = None
    body: Annotated[
        dict[str, Any] | None,
        Field(description='link: {"link_type": "covers"}; the fields of a new item, or those to change and no others.'),
    ] = None
    rationale: Annotated[str, Field(min_length=1, max_length=4_000, description="Why, for the person who decides.")]
    evidence: Annotated[list[Evidence] | None, Field(max_length=10)] = None
    confidence: Annotated[float | None, Field(ge=0, le=1, description="Your own; shown beside our score.")] = None
    not_a_duplicate_of: Annotated[
        list[str] | None, Field(description="Ids of what came back as `similar`, and is something else.")
    ] = None


class ProposeArguments(Arguments):
    proposals: Annotated[list[NewProposal], Field(min_length=1, description=f"1 to {_MOST}.")]


class Outcome(TypedDict):
    status: str
    proposal_id: str | None
    code: NotRequired[str]
    detail: NotRequired[str]
    errors: NotRequired[list[dict[str, Any]]]
    similar: NotRequired[list[Any]]
    link_id: NotRequired[str]
    reviewed_by: NotRequired[str | None]
    reviewed_at: NotRequired[str | None]
    feedback: NotRequired[str | None]


class Proposed(TypedDict):
    items: list[Outcome]
    proposed: int
    batch: str
    next: NotRequired[str | None]
    shortened: NotRequired[bool]


async def _propose(record: Record, asked: ProposeArguments) -> Proposed:
    if len(asked.proposals) > _MOST:
        raise Invalid(
            f"These are {len(asked.proposals)} proposals; send at most {_MOST} at once, which a person can review.",
            code="too_many",
        )
    sent = [one.model_dump(exclude_none=True) for one in asked.proposals]
    if len(sent) == 1:  # what is refused then is an error of the call, not of a row
        one = await record.post("/proposals", sent[0])
        return {
            "items": [{"status": one["status"], "proposal_id": one["id"]}],
            "proposed": 1,
            "batch": one["batch"],
        }
    made = await record.post("/proposals", {"proposals": sent})
    return {"items": [_outcome(one) for one in made["items"]], "proposed": made["proposed"], "batch": made["batch"]}


def _outcome(one: Json) -> Outcome:
    told = {name: one[name] for name in _TOLD if one.get(name) is not None}
    outcome: Outcome = {"status": one["status"], "proposal_id": one["id"]}
    outcome.update(told)  # type: ignore[typeddict-item]
    return outcome


class MyProposalsArguments(Arguments):
    status: Annotated[
        Literal["pending", "accepted", "rejected", "withdrawn", "expired", "outdated"] | None,
        Field(description="Without it all of them, the newest first."),
    ] = None
    batch: Annotated[str | None, Field(description="Of one call of propose.")] = None
    limit: Annotated[int, Field(ge=1, le=_MOST)] = _MOST
    after: Annotated[str | None, Field(description="`next` of the answer before, with the same filters.")] = None


class Mine(TypedDict):
    proposal_id: str
    kind: str
    status: str
    target: dict[str, Any]
    requirement: Named | None
    test_case: Named | None
    body: dict[str, Any]
    rationale: str
    confidence: float | None
    engine_score: float | None
    batch: str
    created_at: str
    reviewed_at: str | None
    reviewed_by: str | None
    feedback: str | None


class MyProposals(TypedDict):
    items: list[Mine]
    total: int
    next: str | None
    shortened: NotRequired[bool]


async def _list_mine(record: Record, asked: MyProposalsArguments) -> MyProposals:
    page = await record.get("/proposals", agent="me", **asked.model_dump())
    return {"items": [_mine(one) for one in page["items"]], "total": page["total"], "next": page["next_after"]}


def _mine(one: Json) -> Mine:
    return {
        "proposal_id": one["id"],
        "kind": one["kind"],
        "status": one["status"],
        "target": one["target"],
        "requirement": one["requirement"] and named(one["requirement"]),
        "test_case": one["test_case"] and named(one["test_case"]),
        "body": one["body"],
        "rationale": one["rationale"],
        "confidence": one["confidence"],
        "engine_score": one["engine_score"],
        "batch": one["batch"],
        "created_at": one["created_at"],
        "reviewed_at": one["reviewed_at"],
        "reviewed_by": one["reviewed_by"],
        "feedback": one["feedback"],
    }


class WithdrawArguments(Arguments):
    proposal: Annotated[str, Field(min_length=1, description="The `proposal_id`.")]


class Withdrawn(TypedDict):
    proposal_id: str
    status: str
    next: NotRequired[str | None]
    shortened: NotRequired[bool]


async def _withdraw(record: Record, asked: WithdrawArguments) -> Withdrawn:
    one = await record.post(f"/proposals/{in_path(asked.proposal)}/withdraw")
    return {"proposal_id": one["id"], "status": one["status"]}


PROPOSE = Tool(
    "propose",
    "Propose changes to a person",
    f"Propose up to {_MOST} changes: link, unlink or confirm_link of a requirement and a test case, a relation, a new"
    " requirement or test_case, or a change of one. Nothing of the record changes: a person accepts each, or rejects it"
    " with a reason that my_proposals shows. Say why and show evidence (files with lines, commits, addresses). What"
    " people rejected is refused until a text changes.",
    ProposeArguments,
    Proposed,
    _propose,
    reads=False,
)
MY_PROPOSALS = Tool(
    "my_proposals",
    "What became of my proposals",
    "What this token has proposed: pending, accepted, rejected with the feedback of the person, or outdated. Learn from"
    " the feedback before you propose more.",
    MyProposalsArguments,
    MyProposals,
    _list_mine,
)
WITHDRAW = Tool(
    "withdraw",
    "Withdraw a proposal of mine",
    "Take back a pending proposal of this token; of others none.",
    WithdrawArguments,
    Withdrawn,
    _withdraw,
    reads=False,
)
