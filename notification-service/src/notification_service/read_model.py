"""What `python -m chassis.admin rebuild notification_service` rebuilds: the copies of auth's users and projects.

Notifications and the audit log are this service's own record, and stay.
"""

from collections.abc import Mapping

from chassis.db.database import Connection
from chassis.messaging.rebuild import Reach, ReadModel, replace
from notification_service import project_repository
from notification_service.handlers import COPYING


def new_read_model() -> ReadModel:
    """Return the copy."""
    return ReadModel(
        queue="notification",
        source="auth",
        tables=("recipients", "projects", "members"),
        handlers=COPYING,
        prepare=project_repository.prepare_rebuild,
        merge=_merge,
    )


async def _merge(connection: Connection, reach: Reach) -> Mapping[str, int]:
    return {
        "recipients": await replace(connection, "recipients", reach, "user_id"),
        "projects": await replace(connection, "projects", reach, "key"),
        "members": await replace(connection, "members", reach, "project_key", "user_id"),
    }
