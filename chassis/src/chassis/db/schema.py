"""The tables that every service has for its messages, and the naming convention of constraints."""

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from chassis.db.isolation import default_project

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}


def new_metadata() -> sa.MetaData:
    """Return the metadata of a service: messaging tables included, constraints named by convention."""
    metadata = sa.MetaData(naming_convention=NAMING)
    _outbox(metadata)
    _inbox(metadata)
    sa.Table(
        "idempotency_keys",
        metadata,
        project_column(optional=True),
        sa.Column("caller_id", sa.BigInteger, primary_key=True),
        sa.Column("scope", sa.Text, primary_key=True),
        sa.Column("key", sa.Text, primary_key=True),
        required("body_hash", sa.LargeBinary),
        sa.Column("status", sa.Integer),
        sa.Column("headers", pg.ARRAY(sa.Text)),
        sa.Column("body", sa.LargeBinary),
        timestamp("created_at", server_default=sa.func.now()),
    )
    return metadata


def project_column(*, primary_key: bool = False, optional: bool = False) -> sa.Column[Any]:
    """Return the column of the project's key; of rows that name none see `default_project`."""
    return sa.Column(
        "project_id",
        sa.Text(collation="C"),
        primary_key=primary_key,
        nullable=False,
        server_default=sa.text(default_project(optional=optional)),
    )


def required(name: str, *kind: Any, **options: Any) -> sa.Column[Any]:
    """Return a column that is never null; `kind` and `options` are those of SQLAlchemy's columns."""
    return sa.Column(name, *kind, nullable=False, **options)


def timestamp(name: str, *, nullable: bool = False, **options: Any) -> sa.Column[Any]:
    """Return a column of times."""
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable, **options)


def only_row() -> sa.Column[Any]:
    """Return the key of a table that has one row."""
    return sa.Column("only_row", sa.Boolean, primary_key=True)


def one_of(column: str, *allowed: str) -> sa.CheckConstraint:
    """Return the constraint that a column has one of these values."""
    return sa.CheckConstraint(f"{column} IN ({', '.join(repr(str(value)) for value in allowed)})", name=column)


def from_0_to_1(column: str) -> sa.CheckConstraint:
    """Return the constraint that a column is a share."""
    return sa.CheckConstraint(f"{column} BETWEEN 0 AND 1", name=column)


def _outbox(metadata: sa.MetaData) -> None:
    outbox = sa.Table(
        "outbox",
        metadata,
        sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
        sa.Column("feed_seq", sa.BigInteger, unique=True),
        required("event_id", sa.Uuid),
        required("wire_name", sa.Text),
        required("envelope", sa.Text),
        project_column(optional=True),
    )
    sa.Index("ix_outbox_unnumbered", outbox.c.id, postgresql_where=sa.text("feed_seq IS NULL"))
    sa.Table(
        "feed_head",
        metadata,
        only_row(),
        required("head", sa.BigInteger),
    )
    sa.Table(
        "relay_position",
        metadata,
        only_row(),
        required("position", sa.BigInteger),
    )
    sa.Table(
        "feed_pruning",
        metadata,
        only_row(),
        required("position", sa.BigInteger),
    )
    sa.Table(
        "feed_consumers",
        metadata,
        sa.Column("consumer", sa.Text, primary_key=True),
        required("position", sa.BigInteger),
        timestamp("told_at", server_default=sa.func.now()),
    )
    sa.Table(
        "feed_latest",
        metadata,
        sa.Column("key", sa.Uuid, primary_key=True),
        required("feed_seq", sa.BigInteger, index=True),
    )


def _inbox(metadata: sa.MetaData) -> None:
    sa.Table(
        "inbox",
        metadata,
        sa.Column("event_id", sa.Uuid, primary_key=True),
        required("wire_name", sa.Text),
        timestamp("applied_at", server_default=sa.func.now()),
        # In the feed of its source; null in rows of before it was noted.
        sa.Column("place", sa.BigInteger),
    )
    sa.Table(
        "inbox_positions",
        metadata,
        sa.Column("source", sa.Text, primary_key=True),
        required("position", sa.BigInteger),
        # What was told up to this place and before this time was received, also where no id says so any more.
        required("pruned", sa.BigInteger, server_default=sa.text("0")),
        timestamp("pruned_before", nullable=True),
    )
    sa.Table(
        "inbox_failures",
        metadata,
        sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
        required("event_id", sa.Uuid, unique=True),
        required("wire_name", sa.Text),
        required("message", sa.LargeBinary),
        required("error", sa.Text),
        required("attempts", sa.Integer),
        timestamp("next_attempt_at"),
        timestamp("parked_at", nullable=True),
        timestamp("failed_at", server_default=sa.func.now()),
        project_column(optional=True),
    )
