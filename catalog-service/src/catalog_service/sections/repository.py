"""Table `sections`."""

from collections.abc import Sequence
from datetime import UTC, datetime

from chassis.db.database import Connection
from chassis.db.rows import fetch_value


async def section_key(connection: Connection, kind: str, section: Sequence[str]) -> str:
    """Return what the positions of items of a section begin with; a section that is not there yet is made, the last.

    `kind` is that of its items, requirement or test_case.
    """
    if not section:
        return ""
    key: str = await fetch_value(
        connection, "SELECT section_key(%s, %s::text[], %s)", (kind, list(section), datetime.now(UTC))
    )
    return key
