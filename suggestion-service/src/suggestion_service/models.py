"""The tables of the review queue, for Alembic and for whoever wants to know the schema."""

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg
from sqlalchemy.types import UserDefinedType

from chassis.db.schema import new_metadata

metadata = new_metadata()


class HalfVector(UserDefinedType[Any]):
    """pgvector's vector of half precision numbers."""

    cache_ok = True

    def get_col_spec(self, **_: Any) -> str:
        """Name the type as PostgreSQL does."""
        return "halfvec"


pg.base.ischema_names["halfvec"] = HalfVector


def _timestamp(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable)


def _count(name: str) -> sa.Column[Any]:
    return sa.Column(name, sa.BigInteger, nullable=False, server_default=sa.text("0"))


def _run_counts() -> list[sa.Column[Any]]:
    return [_count("pairs_analyzed")] + [
        _count(f"suggestions_{name}") for name in ("created", "updated", "withdrawn", "skipped")
    ]


def _lease(*, counts_attempts: bool = True) -> list[sa.Column[Any]]:
    columns: list[sa.Column[Any]] = [sa.Column("claim", sa.Uuid), _timestamp("claimed_until", nullable=True)]
    if counts_attempts:
        columns.append(sa.Column("attempts", sa.Integer, nullable=False, server_default=sa.text("0")))
    return columns


def _one_of(column: str, *allowed: str) -> sa.CheckConstraint:
    return sa.CheckConstraint(f"{column} IN ({', '.join(repr(value) for value in allowed)})", name=column)


def _from_0_to_1(column: str) -> sa.CheckConstraint:
    return sa.CheckConstraint(f"{column} BETWEEN 0 AND 1", name=column)


items = sa.Table(
    "items",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("side", sa.Text, nullable=False),
    sa.Column("external_id", sa.Text),
    sa.Column("title", sa.Text, nullable=False),
    sa.Column("module", sa.Text),
    sa.Column("tags", pg.ARRAY(sa.Text), nullable=False),
    sa.Column("priority", sa.Text, nullable=False),
    sa.Column("text", pg.JSONB, nullable=False),
    sa.Column("terms", pg.JSONB, nullable=False),
    sa.Column(
        "text_sequence",
        sa.BigInteger,
        nullable=False,
        comment="place in the feed of the event that last changed the text",
    ),
    sa.Column(
        "sequence",
        sa.BigInteger,
        nullable=False,
        comment="place in the feed of the event that was applied last: the order key",
    ),
    sa.Column(
        "change",
        sa.BigInteger,
        nullable=False,
        comment="corpus_head.head when what scoring reads was last changed",
    ),
    sa.Column("deleted", sa.Boolean, nullable=False),
    sa.Column("actor_id", sa.BigInteger),
    sa.Column("actor_email", sa.Text, comment="who last changed what scoring reads; unknown before 0002"),
    sa.Column("correlation_id", sa.Text),
    _one_of("side", "requirement", "test_case"),
    sa.Index(None, "change", "id"),
)

corpus_head = sa.Table(
    "corpus_head",
    metadata,
    sa.Column("only_row", sa.Boolean, primary_key=True),
    sa.Column("head", sa.BigInteger, nullable=False),
)

settlement = sa.Table(
    "settlement",
    metadata,
    sa.Column("only_row", sa.Boolean, primary_key=True),
    sa.Column(
        "position",
        sa.BigInteger,
        nullable=False,
        comment="corpus_head.head up to which pending suggestions are complete",
    ),
)

import_items = sa.Table(
    "import_items",
    metadata,
    sa.Column("import_id", sa.Uuid, primary_key=True),
    sa.Column("item_id", sa.Uuid, primary_key=True),
    sa.Column("settled", sa.Boolean, nullable=False, comment="what was pending was complete just before"),
    sa.Column("noted_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now()),
    comment="items that say something new by an import whose end is not told yet",
)

linked_pairs = sa.Table(
    "linked_pairs",
    metadata,
    sa.Column("link_id", sa.Uuid, primary_key=True),
    sa.Column("requirement_id", sa.Uuid, nullable=False),
    sa.Column("test_case_id", sa.Uuid, nullable=False),
    sa.Column("sequence", sa.BigInteger, nullable=False),
    sa.Column("deleted", sa.Boolean, nullable=False),
    sa.Index(None, "requirement_id", "test_case_id", postgresql_where=sa.text("NOT deleted")),
)

embedding_model = sa.Table(
    "embedding_model",
    metadata,
    sa.Column("only_row", sa.Boolean, primary_key=True),
    sa.Column("model", sa.Text),
    sa.Column(
        "in_use",
        sa.Boolean,
        nullable=False,
        comment="the vectors of all items are there, and hybrid scores are made of them",
    ),
)

# Where the server has pgvector.
embeddings = sa.Table(
    "embeddings",
    metadata,
    sa.Column("item_id", sa.Uuid, primary_key=True),
    sa.Column("model", sa.Text, primary_key=True),
    sa.Column("text_hash", sa.Text, comment="md5 of the items.text that the vectors are of"),
    sa.Column("whole", HalfVector, comment="unit vector times 2000, whole numbers; null where there are no words"),
    sa.Column("passages", pg.ARRAY(HalfVector)),
    *_lease(counts_attempts=False),
    sa.Index("ix_embeddings_claimed_until", "claimed_until", postgresql_where=sa.text("claimed_until IS NOT NULL")),
)

scoring_queue = sa.Table(
    "scoring_queue",
    metadata,
    sa.Column("item_id", sa.Uuid, primary_key=True),
    sa.Column("sequence", sa.BigInteger, nullable=False),
    sa.Column("actor_id", sa.BigInteger),
    sa.Column("actor_email", sa.Text, nullable=False),
    sa.Column("correlation_id", sa.Text, nullable=False),
    sa.Column("due_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now(), index=True),
    *_lease(),
    _timestamp("announced_until", nullable=True),
    sa.Column("traceparent", sa.Text),
)

runs = sa.Table(
    "runs",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("algorithm", sa.Text, nullable=False),
    sa.Column("threshold", sa.Double, nullable=False),
    sa.Column("progress", sa.Double, nullable=False, server_default=sa.text("0")),
    *_run_counts(),
    sa.Column("rescore", sa.Boolean, nullable=False, server_default=sa.text("true")),
    sa.Column(
        "background",
        sa.Text,
        comment="AUTO_SUGGESTIONS_ALGORITHM when the run was asked for; unknown before 0010",
    ),
    sa.Column(
        "seen",
        sa.BigInteger,
        comment="items.text_sequence of the latest text that the run looked at; null before that",
    ),
    _timestamp("created_at"),
    sa.Column("created_by", sa.Text, nullable=False),
    _timestamp("started_at", nullable=True),
    _timestamp("finished_at", nullable=True),
    sa.Column("error", sa.Text),
    sa.Column("actor_id", sa.BigInteger),
    sa.Column("correlation_id", sa.Text, nullable=False),
    *_lease(),
    _one_of("status", "queued", "running", "completed", "failed", "cancelled"),
    _one_of("algorithm", "tfidf", "keyword", "hybrid"),
    _from_0_to_1("threshold"),
    _from_0_to_1("progress"),
    sa.Index(None, "created_at", "id"),
    sa.Index(
        "ix_runs_unfinished",
        "created_at",
        postgresql_where=sa.text("status IN ('queued', 'running')"),
    ),
)

run_parts = sa.Table(
    "run_parts",
    metadata,
    sa.Column("run_id", sa.Uuid, sa.ForeignKey(runs.c.id, ondelete="CASCADE"), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("first_id", sa.Uuid, nullable=False, comment="the part is the requirements with this id or a later one"),
    sa.Column("until_id", sa.Uuid, comment="... and before this id; null: to the last"),
    sa.Column("done", sa.Boolean, nullable=False, server_default=sa.text("false")),
    sa.Column("progress", sa.Double, nullable=False, server_default=sa.text("0")),
    *_run_counts(),
    *_lease(),
    _from_0_to_1("progress"),
    comment="the parts of runs that have not ended",
)

suggestions = sa.Table(
    "suggestions",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("requirement_id", sa.Uuid, nullable=False),
    sa.Column("test_case_id", sa.Uuid, nullable=False, index=True),
    sa.Column("similarity_score", sa.Double, nullable=False),
    sa.Column("suggestion_method", sa.Text, nullable=False),
    sa.Column("suggestion_reason", sa.Text),
    sa.Column("suggestion_metadata", pg.JSONB),
    sa.Column("status", sa.Text, nullable=False),
    _timestamp("created_at"),
    _timestamp("reviewed_at", nullable=True),
    sa.Column("reviewed_by", sa.String(100)),
    sa.Column("feedback", sa.Text),
    sa.Column("link_id", sa.Uuid),
    sa.Column("run_id", sa.Uuid),
    sa.Column(
        "withdrawn",
        sa.Boolean,
        nullable=False,
        server_default=sa.text("false"),
        comment="expired, since a run scored it below its threshold: it may come back",
    ),
    sa.Column(
        "requirement_text_sequence",
        sa.BigInteger,
        nullable=False,
        comment="items.text_sequence of the text that was scored, or reviewed",
    ),
    sa.Column(
        "test_case_text_sequence",
        sa.BigInteger,
        nullable=False,
        comment="items.text_sequence of the text that was scored, or reviewed",
    ),
    sa.Column(
        "review_adjustment",
        sa.Double,
        comment="in log-odds; null where reviews say nothing, or do not help",
    ),
    sa.Column("review_evidence", pg.JSONB),
    sa.Column(
        "relevance",
        sa.Double,
        sa.Computed(
            "ln((0.001::double precision + 0.98::double precision * similarity_score)"
            " / (0.999::double precision - 0.98::double precision * similarity_score))"
            " + coalesce(review_adjustment, 0::double precision)",
            persisted=True,
        ),
    ),
    sa.Column("review_id", sa.Uuid),
    sa.Column(
        "pending_since",
        sa.DateTime(timezone=True),
        comment="since when it is pending again; null: since created_at",
    ),
    _from_0_to_1("similarity_score"),
    _one_of("suggestion_method", "semantic_similarity", "keyword_match", "heuristic", "hybrid"),
    _one_of("status", "pending", "accepted", "rejected", "expired"),
    sa.Index(
        "uq_suggestions_pending_pair",
        "requirement_id",
        "test_case_id",
        unique=True,
        postgresql_where=sa.text("status = 'pending'"),
    ),
    sa.Index(None, "requirement_id", "test_case_id"),
    sa.Index(None, "created_at", "id"),
    sa.Index(None, "similarity_score", "id"),
    sa.Index(None, "status", "similarity_score", "id"),
    sa.Index(None, "relevance", "id"),
    sa.Index(
        "ix_suggestions_withdrawn",
        "requirement_id",
        "test_case_id",
        postgresql_where=sa.text("withdrawn"),
    ),
    sa.Index(
        "ix_suggestions_reviewed",
        "reviewed_at",
        postgresql_where=sa.text("status IN ('accepted', 'rejected')"),
    ),
)

suggestion_counts = sa.Table(
    "suggestion_counts",
    metadata,
    sa.Column("slot", sa.BigInteger, sa.Identity(always=True), primary_key=True),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("rows", sa.BigInteger, nullable=False),
    comment="how many suggestions have a status: the sum over its slots; kept by triggers",
)

accept_intents = sa.Table(
    "accept_intents",
    metadata,
    sa.Column("suggestion_id", sa.Uuid, sa.ForeignKey(suggestions.c.id, ondelete="CASCADE"), primary_key=True),
    sa.Column("reviewer_id", sa.BigInteger),
    sa.Column("reviewer_email", sa.Text, nullable=False),
    sa.Column("feedback", sa.Text),
    sa.Column("link_type", sa.Text, nullable=False),
    sa.Column("correlation_id", sa.Text, nullable=False),
    _timestamp("created_at"),
    sa.Column("due_at", sa.DateTime(timezone=True), nullable=False, index=True),
    sa.Column("review_id", sa.Uuid),
    sa.Column("link_id", sa.Uuid, comment="of an acceptance that was lost with an older backup"),
    _one_of("link_type", "covers", "verifies", "validates", "related"),
)

undo_intents = sa.Table(
    "undo_intents",
    metadata,
    sa.Column("suggestion_id", sa.Uuid, sa.ForeignKey(suggestions.c.id, ondelete="CASCADE"), primary_key=True),
    sa.Column("actor_id", sa.BigInteger),
    sa.Column("actor_email", sa.Text, nullable=False),
    sa.Column("correlation_id", sa.Text, nullable=False),
    _timestamp("created_at"),
    sa.Column("due_at", sa.DateTime(timezone=True), nullable=False, index=True),
)

reviews = sa.Table(
    "reviews",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("action", sa.Text, nullable=False),
    sa.Column(
        "suggestion_ids",
        pg.ARRAY(sa.Uuid),
        nullable=False,
        comment="in the order in which they were asked for",
    ),
    sa.Column("reviewed_by", sa.Text, nullable=False),
    _timestamp("reviewed_at"),
    sa.Column("undone_at", sa.DateTime(timezone=True), index=True, comment="when some of it, or all, was last undone"),
    sa.Column("undone_by", sa.Text),
    _one_of("action", "accept", "reject"),
    comment="one row a request; suggestions.review_id says which of them still stand",
)

learning = sa.Table(
    "learning",
    metadata,
    sa.Column("only_row", sa.Boolean, primary_key=True),
    sa.Column("seen", sa.Text, nullable=False),
    sa.Column("active", sa.Boolean, nullable=False),
    _timestamp("since", nullable=True),
    _timestamp("measured_at", nullable=True),
    sa.Column("accepted", sa.Integer, nullable=False),
    sa.Column("rejected", sa.Integer, nullable=False),
    sa.Column("by_score", sa.Double),
    sa.Column("with_reviews", sa.Double),
    sa.Column("error", sa.Double),
)
