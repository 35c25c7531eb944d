"""What is proposed, as it is listed and read, and how it comes in."""

from collections.abc import Sequence
from uuid import UUID, uuid4

from chassis.core.identity import Identity
from chassis.core.wording import counted
from chassis.db.database import Connection, Database
from chassis.messaging import outbox
from chassis.messaging.events import NewEvent, actor_of
from chassis.web.listing import Fetched, PageRequest, Row
from contracts.suggestion import ProposalsMade
from suggestion_service.proposals import making, repository
from suggestion_service.proposals.authors import Author
from suggestion_service.proposals.filters import ProposalFilters, expanded
from suggestion_service.proposals.making import Made, Prepared
from suggestion_service.proposals.refusals import not_found
from suggestion_service.review import following
from suggestion_service.store.proposals import Changed


async def page(database: Database, query: ProposalFilters, caller: Identity, wanted: PageRequest) -> Fetched:
    """Return one page of proposals; raise Invalid for an unknown value."""
    conditions, more = query.conditions(caller), expanded(query.expand)
    async with database.connection() as connection:
        return await repository.page(connection, conditions, wanted, texts="texts" in more, diff="diff" in more)


async def get(database: Database, proposal_id: UUID, expand: str | None = None) -> Row:
    """Return a proposal as it is answered, expanded as asked for; raise NotFound, or Invalid for an unknown value."""
    more = expanded(expand)
    async with database.connection() as connection:
        found = await repository.get(connection, [proposal_id], texts="texts" in more, diff="diff" in more)
    if proposal_id not in found:
        raise not_found()
    return found[proposal_id]


async def propose(connection: Connection, author: Author, caller: Identity, prepared: Prepared) -> Made:
    """Store one proposal, or return the same one that is pending; see `making.make`."""
    batch = uuid4()
    async with connection.transaction():
        made = await making.make(connection, author, batch, prepared)
        await _tell_made(connection, batch, [] if made.changed is None else [made.changed], caller)
    return made


async def propose_many(connection: Connection, author: Author, caller: Identity, prepared: Sequence[Prepared]) -> Row:
    """Store several, each by itself; return the answer, with a result for each, in order."""
    batch = uuid4()
    async with connection.transaction():
        results, made = await making.make_all(connection, author, batch, prepared)
        await _tell_made(connection, batch, made, caller)
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


async def _tell_made(connection: Connection, batch: UUID, made: Sequence[Changed], caller: Identity) -> None:
    if made:
        event = ProposalsMade(batch=batch, proposals=[following.told(one) for one in made])
        await outbox.record(connection, [NewEvent(event, str(batch), actor_of(caller))])
