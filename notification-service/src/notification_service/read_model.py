"""What `python -m chassis.admin rebuild notification_service` rebuilds: the copy of auth's users.

Notifications and the audit log are this service's own record, and stay.
"""

from collections.abc import Mapping

from chassis.db.database import Connection
from chassis.messaging.rebuild import Reach, ReadModel, replace
from contracts import auth
from notification_service.handlers import copy_users


def new_read_model() -> ReadModel:
    """Return the copy."""
    return ReadModel(
        queue="notification",
        source="auth",
        tables=("recipients",),
        handlers={auth.UserCreated: copy_users, auth.UserUpdated: copy_users, auth.PasswordChanged: copy_users},
        merge=_merge,
    )


async def _merge(connection: Connection, reach: Reach) -> Mapping[str, int]:
    return {"recipients": await replace(connection, "recipients", reach, "user_id")}
