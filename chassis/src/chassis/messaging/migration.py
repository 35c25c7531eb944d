"""Steps that the migrations of every service have in common: the messaging tables of `schema`."""

from collections.abc import Iterator

from alembic import op

from chassis.db.isolation import add_project, isolate


def create_tables() -> None:
    """Create the tables, as of version 1. Frozen: a change of `schema` comes as a new function here and a migration."""
    for statement in STATEMENTS:
        op.execute(statement)


def keep_projects_apart() -> None:
    """Give what a project's changes, requests and failures leave here its project. Frozen, too."""
    for statement in projects_apart():
        op.execute(statement)


def projects_apart() -> Iterator[str]:
    """Yield what `keep_projects_apart` executes."""
    for table in ("outbox", "inbox_failures", "idempotency_keys"):
        yield from add_project(table, optional=True)
        yield from isolate(table)


def create_pruning_tables() -> None:
    """Create what a feed is pruned by, in a later migration. Frozen, too."""
    for statement in PRUNING:
        op.execute(statement)


def forget_received_events() -> None:
    """Give inboxes what they need to forget ids of long ago, in a later migration. Frozen, too."""
    for statement in INBOX_PRUNING:
        op.execute(statement)


STATEMENTS = (
    """
    CREATE TABLE outbox (
        id bigint GENERATED ALWAYS AS IDENTITY,
        feed_seq bigint,
        event_id uuid NOT NULL,
        wire_name text NOT NULL,
        envelope text NOT NULL,
        CONSTRAINT pk_outbox PRIMARY KEY (id),
        CONSTRAINT uq_outbox_feed_seq UNIQUE (feed_seq)
    )
    """,
    "CREATE INDEX ix_outbox_unnumbered ON outbox (id) WHERE feed_seq IS NULL",
    "CREATE TABLE feed_head (only_row boolean CONSTRAINT pk_feed_head PRIMARY KEY, head bigint NOT NULL)",
    "INSERT INTO feed_head VALUES (true, 0)",
    "CREATE TABLE relay_position (only_row boolean CONSTRAINT pk_relay_position PRIMARY KEY, position bigint NOT NULL)",
    "INSERT INTO relay_position VALUES (true, 0)",
    """
    CREATE TABLE inbox (
        event_id uuid CONSTRAINT pk_inbox PRIMARY KEY,
        wire_name text NOT NULL,
        applied_at timestamptz NOT NULL DEFAULT now()
    )
    """,
    "CREATE TABLE inbox_positions (source text CONSTRAINT pk_inbox_positions PRIMARY KEY, position bigint NOT NULL)",
    """
    CREATE TABLE inbox_failures (
        id bigint GENERATED ALWAYS AS IDENTITY,
        event_id uuid NOT NULL,
        wire_name text NOT NULL,
        message bytea NOT NULL,
        error text NOT NULL,
        attempts integer NOT NULL,
        next_attempt_at timestamptz NOT NULL,
        parked_at timestamptz,
        failed_at timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT pk_inbox_failures PRIMARY KEY (id),
        CONSTRAINT uq_inbox_failures_event_id UNIQUE (event_id)
    )
    """,
    """
    CREATE TABLE idempotency_keys (
        caller_id bigint NOT NULL,
        scope text NOT NULL,
        key text NOT NULL,
        body_hash bytea NOT NULL,
        status integer,
        headers text[],
        body bytea,
        created_at timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT pk_idempotency_keys PRIMARY KEY (caller_id, scope, key)
    )
    """,
)

PRUNING = (
    "CREATE TABLE feed_pruning (only_row boolean CONSTRAINT pk_feed_pruning PRIMARY KEY, position bigint NOT NULL)",
    "INSERT INTO feed_pruning VALUES (true, 0)",
    """
    CREATE TABLE feed_consumers (
        consumer text CONSTRAINT pk_feed_consumers PRIMARY KEY,
        position bigint NOT NULL,
        told_at timestamptz NOT NULL DEFAULT now()
    )
    """,
    "CREATE TABLE feed_latest (key uuid CONSTRAINT pk_feed_latest PRIMARY KEY, feed_seq bigint NOT NULL)",
    "CREATE INDEX ix_feed_latest_feed_seq ON feed_latest (feed_seq)",
)

INBOX_PRUNING = (
    "ALTER TABLE inbox ADD COLUMN place bigint",
    "ALTER TABLE inbox_positions ADD COLUMN pruned bigint NOT NULL DEFAULT 0, ADD COLUMN pruned_before timestamptz",
)
