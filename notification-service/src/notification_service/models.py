"""The tables of this service, for Alembic and for reading; the running service speaks SQL."""

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from chassis.db.schema import new_metadata, only_row, project_column, required, timestamp

metadata = new_metadata()

# A copy of auth's users; `sequence` is the place in auth's feed, by which the newest state wins.
recipients = sa.Table(
    "recipients",
    metadata,
    sa.Column("user_id", sa.BigInteger, primary_key=True, autoincrement=False),
    required("email", sa.Text),
    required("full_name", sa.Text),
    required("role", sa.Text),
    required("is_active", sa.Boolean),
    required("sequence", sa.BigInteger),
)

# Copies of auth's projects and of who is a member: by them people are told, and see.
projects = sa.Table(
    "projects",
    metadata,
    sa.Column("key", sa.Text(collation="C"), primary_key=True),
    required("visibility", sa.Text),
    required("sequence", sa.BigInteger),
    timestamp("deleted_at", nullable=True),
    required("hidden", sa.Boolean, server_default=sa.false(), comment="deleted, and may be restored"),
    comment="the projects of the installation, by which people may see what; with tombstones",
)

removed_projects = sa.Table(
    "removed_projects",
    metadata,
    sa.Column("key", sa.Text(collation="C"), primary_key=True),
    timestamp("removed_at", server_default=sa.func.now()),
    comment="deleted projects of which nothing is left here",
)

members = sa.Table(
    "members",
    metadata,
    sa.Column("project_key", sa.Text(collation="C"), primary_key=True),
    sa.Column("user_id", sa.BigInteger, primary_key=True, autoincrement=False, index=True),
    sa.Column("role", sa.Text, comment="null: no member any more"),
    required("sequence", sa.BigInteger),
    comment="who is a member of which project of the installation; with tombstones",
)

notifications = sa.Table(
    "notifications",
    metadata,
    project_column(),
    sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
    required("event_id", sa.Uuid),
    required("user_id", sa.BigInteger),
    required("type", sa.Text),
    required("title", sa.Text),
    required("message", sa.Text),
    required("data", sa.JSON),
    timestamp("created_at"),
    timestamp("read_at", nullable=True),
    sa.UniqueConstraint("event_id", "user_id"),
)
sa.Index(None, notifications.c.project_id)
sa.Index(None, notifications.c.user_id, notifications.c.created_at, notifications.c.id)
sa.Index(None, notifications.c.user_id, notifications.c.type, notifications.c.created_at, notifications.c.id)
sa.Index(
    "ix_notifications_unread",
    notifications.c.user_id,
    notifications.c.created_at,
    notifications.c.id,
    postgresql_where=notifications.c.read_at.is_(None),
)

notification_counts = sa.Table(
    "notification_counts",
    metadata,
    sa.Column("user_id", sa.BigInteger, primary_key=True, autoincrement=False),
    project_column(primary_key=True),
    required("total", sa.BigInteger),
    required("unread", sa.BigInteger),
    comment="how many notifications each user has; kept by triggers",
    postgresql_with={"fillfactor": 20},
)

audit_entries = sa.Table(
    "audit_entries",
    metadata,
    project_column(),
    sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
    timestamp("occurred_at"),
    required("actor", sa.Text),
    sa.Column("actor_id", sa.BigInteger),
    required("action", sa.Text),
    required("resource_type", sa.Text),
    sa.Column("resource_id", sa.Text),
    sa.Column("resource_title", sa.Text),
    required("summary", sa.Text),
    sa.Column("before", sa.JSON),
    sa.Column("after", sa.JSON),
    sa.Column("details", sa.JSON),
    required("request_id", sa.Text),
    sa.Column("gateway_request_id", sa.Text),
    sa.Column(
        "resource_ids",
        pg.ARRAY(sa.Text),
        comment="of an entry that is about several; then resource_id is null",
    ),
    sa.Column("batch_id", sa.Uuid, comment="of one of many changes by an import, which activity shows as one"),
    sa.Column(
        "item_ids",
        pg.ARRAY(sa.Text),
        comment="what activity finds it by beside its resource; says nothing of its own, and is not sealed",
    ),
)
sa.Index(
    None,
    audit_entries.c.item_ids,
    postgresql_using="gin",
    postgresql_where=audit_entries.c.item_ids.is_not(None),
)
sa.Index(
    None,
    audit_entries.c.resource_ids,
    postgresql_using="gin",
    postgresql_where=audit_entries.c.resource_ids.is_not(None),
)
sa.Index(None, audit_entries.c.project_id, audit_entries.c.occurred_at, audit_entries.c.id)
sa.Index(
    "ix_audit_entries_activity",
    audit_entries.c.project_id,
    audit_entries.c.occurred_at,
    audit_entries.c.id,
    postgresql_where=sa.and_(
        audit_entries.c.resource_type != "user",
        audit_entries.c.resource_type != "project",
        audit_entries.c.batch_id.is_(None),
    ),
)
for _filter in ("actor", "action", "resource_type", "resource_id"):
    sa.Index(
        None, audit_entries.c.project_id, audit_entries.c[_filter], audit_entries.c.occurred_at, audit_entries.c.id
    )

audit_entry_counts = sa.Table(
    "audit_entry_counts",
    metadata,
    project_column(primary_key=True),
    sa.Column("hour", sa.DateTime(timezone=True), primary_key=True),
    required("total", sa.BigInteger),
    required("activity", sa.BigInteger, comment="those that activity shows"),
    comment="how many entries are of each hour; kept by triggers",
    postgresql_with={"fillfactor": 20},
)

stream_events = sa.Table(
    "stream_events",
    metadata,
    project_column(),
    sa.Column(
        "position",
        sa.BigInteger,
        sa.Identity(always=True),
        primary_key=True,
        comment="given under the lock of the inbox: in the order in which they become visible",
    ),
    required("name", sa.Text),
    required("data", sa.JSON),
    timestamp("stored_at", server_default=sa.func.now()),
    sa.Index(None, "project_id", "position"),
)

audit_seals = sa.Table(
    "audit_seals",
    metadata,
    project_column(primary_key=True),
    sa.Column("place", sa.BigInteger, primary_key=True),
    required("entry_id", sa.BigInteger, unique=True),
    required("digest", sa.LargeBinary),
    required("hash", sa.LargeBinary, comment="of the hash before, the place, the id and the digest of the entry"),
    timestamp("sealed_at", server_default=sa.func.now()),
)

audit_heads = sa.Table(
    "audit_heads",
    metadata,
    project_column(primary_key=True),
    sa.Column("day", sa.Date, primary_key=True),
    required("place", sa.BigInteger),
    required("hash", sa.LargeBinary),
    required("key", sa.Text),
    required("signature", sa.LargeBinary),
)

audit_anchors = sa.Table(
    "audit_anchors",
    metadata,
    project_column(primary_key=True),
    required("place", sa.BigInteger),
    timestamp("removed_at", server_default=sa.func.now()),
    comment="up to which place of its chain the entries of a project were removed by age",
)

audit_erasures = sa.Table(
    "audit_erasures",
    metadata,
    project_column(),
    sa.Column("erasure", sa.Uuid, primary_key=True, comment="details.erasure of an audit entry user.erased"),
    sa.Column("entry_id", sa.BigInteger, primary_key=True, autoincrement=False),
    required("digest", sa.LargeBinary),
    sa.Index(None, "project_id"),
    comment="audit entries that an erased person was taken out of, as they are since",
)

audit_sealing = sa.Table(
    "audit_sealing",
    metadata,
    only_row(),
    required("position", sa.BigInteger, comment="audit_entries.id up to which each entry has its seal"),
)
