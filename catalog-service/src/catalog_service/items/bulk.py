"""Changes of many requirements or test cases at once."""

from collections.abc import Callable, Sequence
from uuid import UUID

from catalog_service.bulk.schemas import BulkStatus
from catalog_service.bulk.service import Outcome, checked
from catalog_service.fields import repository as project_fields
from catalog_service.fields.definitions import NONE, Fields
from catalog_service.items import repository
from catalog_service.items.bounds import check_growth
from catalog_service.items.filters import ItemFilters
from catalog_service.items.kinds import ItemKind
from catalog_service.items.repository import Update
from catalog_service.items.schemas import ItemsBulkChange
from catalog_service.items.service import LinkDeletions, conditions_of, delete_all, patched, updated
from catalog_service.items.source_urls import SourceUrls
from catalog_service.levels.service import check_level
from catalog_service.sections.positions import new_key
from catalog_service.sections.repository import section_key
from catalog_service.verdicts import Basis
from chassis.core.problems import Invalid, Problem
from chassis.db.database import Connection
from chassis.messaging.events import Actor
from chassis.web.bulk import pointing_into
from chassis.web.conditions import Conditions
from chassis.web.listing import Row


class ManyItems:
    """The items of one kind, of which many are changed by one request."""

    key = "id"

    def __init__(
        self, kind: ItemKind, source_urls: SourceUrls, link_deletions: LinkDeletions, basis: Callable[[], Basis]
    ) -> None:
        self.label = kind.label
        self.path = kind.path
        self._kind = kind
        self._source_urls = source_urls
        self._link_deletions = link_deletions
        self._basis = basis

    def check(self, asked: ItemsBulkChange) -> None:
        """Raise Invalid for a patch that no item may have."""
        with pointing_into("patch"):
            self._source_urls.check(getattr(asked.patch, "source_url", None))

    async def conditions(self, connection: Connection, filters: ItemFilters) -> Conditions:
        """Return what the filters ask for; raises Invalid."""
        return await conditions_of(connection, filters, self._basis(), self._kind)

    async def find(self, connection: Connection, conditions: Conditions) -> list[UUID]:
        """Return the ids of the items that fulfil the conditions."""
        return await repository.find_ids(connection, self._kind, conditions)

    async def first(self, connection: Connection, conditions: Conditions, limit: int) -> list[Row]:
        """Return the newest of them."""
        return await repository.find_newest(connection, self._kind, conditions, limit)

    async def change(
        self, connection: Connection, ids: Sequence[UUID], conditions: Conditions, asked: ItemsBulkChange, actor: Actor
    ) -> dict[UUID, Outcome]:
        """Patch or delete those of the items that fulfil the conditions; return what became of each."""
        lock = "FOR UPDATE" if asked.delete else "FOR NO KEY UPDATE"
        rows = await repository.lock_all(connection, self._kind, ids, conditions, lock)
        current, outcomes = checked(rows, asked, self._kind.etag)
        if asked.delete:
            await delete_all(connection, self._kind, current, actor, self._link_deletions)
            return outcomes | {row["id"]: Outcome(BulkStatus.DELETED) for row in current}
        names_them = asked.patch is not None and "custom_metadata" in asked.patch.model_fields_set
        own = await project_fields.of(connection) if names_them else NONE
        if (level := getattr(asked.patch, "level", None)) is not None:
            await check_level(connection, level)
        to_section = None
        if asked.patch is not None and "section" in asked.patch.model_fields_set:
            section = getattr(asked.patch, "section", None) or []
            to_section = await section_key(connection, self._kind.name, section)
        updates, refused = self._updates(current, asked, actor, own, to_section)
        outcomes |= refused
        if updates:
            await repository.update_all(connection, self._kind, updates)
        return outcomes | {one.row["id"]: Outcome(BulkStatus.CHANGED, self._kind.etag(one.row)) for one in updates}

    def _updates(
        self, rows: Sequence[Row], asked: ItemsBulkChange, actor: Actor, own: Fields, to_section: str | None
    ) -> tuple[list[Update], dict[UUID, Outcome]]:
        """Return what brings rows to what is asked, and what becomes of those that would hold too much.

        `to_section` is the key of the section that they come into.
        """
        named = {} if asked.patch is None else asked.patch.model_dump(exclude_unset=True)
        updates, refused = [], {}
        for row in rows:
            try:
                fields = patched(self._kind, row, named, own)
                if asked.tags_add or asked.tags_remove:
                    fields["tags"] = _tagged(row["tags"], asked)
                    check_growth("tags", row["tags"], fields["tags"])
            except Invalid as too_much:
                refused[row["id"]] = Outcome(BulkStatus.FAILED, self._kind.etag(row), too_much)
                continue
            if to_section is not None and fields["section"] != row["section"]:
                fields["position"] = to_section + new_key()
            update = updated(self._kind, row, fields, actor, own)
            if update is not None:
                updates.append(update)
        return updates, refused

    def not_found(self) -> Problem:
        """Return the problem of an id that no item has."""
        return self._kind.not_found()


def _tagged(tags: list[str], asked: ItemsBulkChange) -> list[str]:
    """Return the tags of an item as they are to be: those that it has stay where they are."""
    kept = [tag for tag in tags if tag not in asked.tags_remove]
    return kept + [tag for tag in dict.fromkeys(asked.tags_add) if tag not in kept]
