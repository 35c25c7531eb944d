"""What is proposed, as it is listed and read, and how it comes in."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID, uuid4

from chassis.core.identity import Identity
from chassis.core.wording import counted
from chassis.db.database import Connection, Database
from chassis.web.listing import Fetched, PageRequest, Row
from suggestion_service.proposals import making, repository
from suggestion_service.proposals.authors import Author
from suggestion_service.proposals.filters import ProposalFilters, expanded
from suggestion_service.proposals.making import Made
from suggestion_service.proposals.refusals import not_found
from suggestion_service.proposals.schemas import NewProposal


async def page(database: Database, query: ProposalFilters, caller: Identity, wanted: PageRequest) -> Fetched:
    """Return one page of proposals; raise Invalid for an unknown value."""
    conditions, more = query.conditions(caller), expanded(query.expand)
    async with database.connection() as connection:
        return await repository.page(connection, conditions, wanted, texts="texts" in more)


async def get(database: Database, proposal_id: UUID, expand: str | None = None) -> Row:
    """Return a proposal as it is answered, expanded as asked for; raise NotFound, or Invalid for an unknown value."""
    more = expanded(expand)
    async with database.connection() as connection:
        found = await repository.get(connection, [proposal_id], texts="texts" in more)
    if proposal_id not in found:
        raise not_found()
    return found[proposal_id]


async def propose(connection: Connection, author: Author, proposal: NewProposal) -> Made:
    """Store one proposal, or return the same one that is pending; see `making.make`."""
    async with connection.transaction():
        return await making.make(connection, author, uuid4(), proposal)


async def propose_many(connection: Connection, author: Author, sent: Sequence[Any]) -> Row:
    """Store several, each by itself; return the answer, with a result for each, in order."""
    batch = uuid4()
    async with connection.transaction():
        results, _ = await making.make_all(connection, author, batch, sent)
    failed = sum(one["id"] is None for one in results)
    proposed = len(results) - failed
    why = f", {failed} {'was' if failed == 1 else 'were'} not: `items` tells why" if failed else ""
    return {
        "items": results,
        "total": len(results),
        "proposed": proposed,
        "failed": failed,
        "batch": batch,
        "message": f"{counted(proposed, 'proposal')} {'waits' if proposed == 1 else 'wait'} for a person{why}.",
    }
