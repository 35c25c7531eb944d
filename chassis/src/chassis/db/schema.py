"""The tables that every service has for its messages, and the naming convention of constraints."""

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

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
        sa.Column("caller_id", sa.BigInteger, primary_key=True),
        sa.Column("scope", sa.Text, primary_key=True),
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("body_hash", sa.LargeBinary, nullable=False),
        sa.Column("status", sa.Integer),
        sa.Column("headers", pg.ARRAY(sa.Text)),
        sa.Column("body", sa.LargeBinary),
        _now("created_at"),
    )
    return metadata


def _now(name: str) -> sa.Column[object]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now())


def _outbox(metadata: sa.MetaData) -> None:
    outbox = sa.Table(
        "outbox",
        metadata,
        sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
        sa.Column("feed_seq", sa.BigInteger, unique=True),
        sa.Column("event_id", sa.Uuid, nullable=False),
        sa.Column("wire_name", sa.Text, nullable=False),
        sa.Column("envelope", sa.Text, nullable=False),
    )
    sa.Index("ix_outbox_unnumbered", outbox.c.id, postgresql_where=sa.text("feed_seq IS NULL"))
    sa.Table(
        "feed_head",
        metadata,
        sa.Column("only_row", sa.Boolean, primary_key=True),
        sa.Column("head", sa.BigInteger, nullable=False),
    )
    sa.Table(
        "relay_position",
        metadata,
        sa.Column("only_row", sa.Boolean, primary_key=True),
        sa.Column("position", sa.BigInteger, nullable=False),
    )


def _inbox(metadata: sa.MetaData) -> None:
    sa.Table(
        "inbox",
        metadata,
        sa.Column("event_id", sa.Uuid, primary_key=True),
        sa.Column("wire_name", sa.Text, nullable=False),
        _now("applied_at"),
    )
    sa.Table(
        "inbox_positions",
        metadata,
        sa.Column("source", sa.Text, primary_key=True),
        sa.Column("position", sa.BigInteger, nullable=False),
    )
    sa.Table(
        "inbox_failures",
        metadata,
        sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
        sa.Column("event_id", sa.Uuid, nullable=False, unique=True),
        sa.Column("wire_name", sa.Text, nullable=False),
        sa.Column("message", sa.LargeBinary, nullable=False),
        sa.Column("error", sa.Text, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("next_attempt_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("parked_at", sa.DateTime(timezone=True)),
        _now("failed_at"),
    )
