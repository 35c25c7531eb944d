"""Puts pending suggestions of a requirement together whose test cases are variants of one another."""

import asyncio
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from uuid import UUID

from chassis.db.database import Connection
from suggestion_service.scoring import repository
from suggestion_service.scoring.repository import PendingName
from suggestion_service.store import suggestions
from suggestion_service.variants import Described, Named, group, sharing_a_name, words_of


async def group_variants(connection: Connection, requirement_ids: Collection[UUID]) -> None:
    """Store which pending suggestions of these requirements are of variants. The corpus must be locked."""
    if not requirement_ids:
        return
    pending = await repository.pending_names(connection, requirement_ids)
    of_each: dict[UUID, list[PendingName]] = defaultdict(list)
    for one in pending:
        of_each[one.requirement_id].append(one)
    alike = await asyncio.to_thread(_sharing_a_name, list(of_each.values()))
    said = await repository.bodies(connection, alike) if alike else {}
    found = await asyncio.to_thread(_group, list(of_each.values()), said)
    if changed := {one.id: found.get(one.id) for one in pending if one.variant_group != found.get(one.id)}:
        await suggestions.group(connection, changed)


def _sharing_a_name(requirements: Sequence[Sequence[PendingName]]) -> set[UUID]:
    """Return the test cases whose texts have to be compared."""
    return {
        test_case_id
        for of_one in requirements
        if len(of_one) > 1
        for test_case_id in sharing_a_name(Named(one.test_case_id, one.title, one.external_id) for one in of_one)
    }


def _group(requirements: Sequence[Sequence[PendingName]], said: Mapping[UUID, str]) -> dict[UUID, str]:
    """Return the groups of suggestions, by their ids; `said` are the texts of the test cases that may be in one."""
    words = {test_case_id: words_of(text) for test_case_id, text in said.items()}
    found: dict[UUID, str] = {}
    for of_one in requirements:
        known = [one for one in of_one if one.test_case_id in words]
        groups = group(
            [Described(one.test_case_id, one.title, one.external_id, words[one.test_case_id]) for one in known]
        )
        found |= {one.id: groups[one.test_case_id] for one in known if one.test_case_id in groups}
    return found
