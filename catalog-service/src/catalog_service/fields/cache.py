"""What a process knows of the fields of projects: a statement that was made by others than there are now fails."""

from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import TypeVar

from catalog_service.fields import repository
from catalog_service.fields.definitions import Fields
from chassis.core import projects
from chassis.core.problems import Invalid
from chassis.db.database import Database

T = TypeVar("T")

_MOST = 1000
_TRIES = 10


class StaleFields(Exception):
    """The fields of the project have changed since they were read."""


class KnownFields:
    """The fields of the projects that this process wrote to last."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._known: OrderedDict[str, Fields] = OrderedDict()

    async def get(self) -> Fields:
        """Return the fields of the project, which may be others by now: what is made by them says their revision."""
        key = projects.current.get()
        known = self._known.get(key)
        if known is None:
            return await self._read(key)
        self._known.move_to_end(key)
        return known

    async def write(self, make: Callable[[Fields], Awaitable[T]]) -> T:
        """Return what `make` returns by the fields as they are; it is called again where it raises StaleFields.

        What it refuses by fields that are others by now, it is asked again, too.
        """
        for _ in range(_TRIES):
            known = await self.get()
            try:
                return await make(known)
            except StaleFields:
                await self._read(projects.current.get())
            except Invalid:
                if (await self._read(projects.current.get())).revision == known.revision:
                    raise
        raise RuntimeError("The fields of the project are others each time that they are read.")

    async def _read(self, key: str) -> Fields:
        async with self._database.connection() as connection:
            fields = await repository.of(connection)
        self._known[key] = fields
        self._known.move_to_end(key)
        while len(self._known) > _MOST:
            self._known.popitem(last=False)
        return fields
