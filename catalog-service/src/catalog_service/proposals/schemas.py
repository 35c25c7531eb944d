"""Bodies that suggestion-service sends about proposals; it alone calls these addresses."""

from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, Field

from catalog_service.items.schemas import NewBody
from catalog_service.links.schemas import Reviewer

_MOST = 100
Kind = Literal["unlink", "confirm_link", "relation", "requirement", "test_case", "change"]


class ProposedChange(NewBody):
    """What is proposed. `target` names items by id or external_id; `before` is what `checked` answered, if anything."""

    kind: Kind
    target: dict[str, Any]
    body: dict[str, Any]
    before: dict[str, Any] | None = None


class ProposedChanges(BaseModel):
    """Proposals that are to be checked."""

    proposed: Annotated[list[ProposedChange], Field(max_length=_MOST)]
    actor: Reviewer


class AcceptedProposal(ProposedChange):
    """A proposal that a person has accepted."""

    proposal_id: UUID
    actor: Reviewer
    review_id: UUID | None = None


class UndoneProposal(BaseModel):
    """A proposal whose acceptance, by the review `review_id`, a person has undone."""

    proposal_id: UUID
    kind: Kind
    review_id: UUID
    actor: Reviewer


class UndoneProposals(BaseModel):
    """Proposals whose effects are to be taken back."""

    undone: Annotated[list[UndoneProposal], Field(max_length=_MOST)]


class AcceptedProposals(BaseModel):
    """Proposals that are to be applied."""

    accepted: Annotated[list[AcceptedProposal], Field(max_length=_MOST)]
