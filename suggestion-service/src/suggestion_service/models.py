"""The tables of the review queue, for Alembic and for whoever wants to know the schema."""

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg
from sqlalchemy.types import UserDefinedType

from chassis.db.creation import NEEDS_TYPE
from chassis.db.schema import from_0_to_1, new_metadata, one_of, only_row, project_column, required, timestamp
from suggestion_service.proposals.models import add_tables as add_tables_of_proposals

metadata = new_metadata()


class HalfVector(UserDefinedType[Any]):
    """pgvector's vector of half precision numbers."""

    cache_ok = True

    def get_col_spec(self, **_: Any) -> str:
        """Name the type as PostgreSQL does."""
        return "halfvec"


pg.base.ischema_names["halfvec"] = HalfVector


def _count(name: str) -> sa.Column[Any]:
    return required(name, sa.BigInteger, server_default=sa.text("0"))


def _run_counts() -> list[sa.Column[Any]]:
    return [_count("pairs_analyzed")] + [
        _count(f"suggestions_{name}") for name in ("created", "updated", "withdrawn", "skipped")
    ]


def _lease(*, counts_attempts: bool = True) -> list[sa.Column[Any]]:
    columns: list[sa.Column[Any]] = [sa.Column("claim", sa.Uuid), timestamp("claimed_until", nullable=True)]
    if counts_attempts:
        columns.append(required("attempts", sa.Integer, server_default=sa.text("0")))
    return columns


items = sa.Table(
    "items",
    metadata,
    project_column(),
    sa.Column("id", sa.Uuid, primary_key=True),
    required("side", sa.Text),
    sa.Column("external_id", sa.Text),
    required("title", sa.Text),
    sa.Column("module", sa.Text),
    required("tags", pg.ARRAY(sa.Text)),
    required("priority", sa.Text),
    required("text", pg.JSONB),
    required("terms", pg.JSONB),
    sa.Column("language", sa.Text, comment="ISO 639-1, of the terms; unknown before 0020"),
    required("text_sequence", sa.BigInteger, comment="place in the feed of the event that last changed the text"),
    required("sequence", sa.BigInteger, comment="place in the feed of the event that was applied last: the order key"),
    required("change", sa.BigInteger, comment="corpus_head.head when what scoring reads was last changed"),
    required("deleted", sa.Boolean),
    sa.Column("actor_id", sa.BigInteger),
    sa.Column("actor_email", sa.Text, comment="who last changed what scoring reads; unknown before 0002"),
    sa.Column("correlation_id", sa.Text),
    one_of("side", "requirement", "test_case"),
    sa.Index(None, "project_id", "change", "id"),
)

corpus_head = sa.Table(
    "corpus_head",
    metadata,
    project_column(primary_key=True),
    only_row(),
    required("head", sa.BigInteger),
)

settlement = sa.Table(
    "settlement",
    metadata,
    project_column(primary_key=True),
    only_row(),
    required("position", sa.BigInteger, comment="corpus_head.head up to which pending suggestions are complete"),
)

import_items = sa.Table(
    "import_items",
    metadata,
    project_column(),
    sa.Column("import_id", sa.Uuid, primary_key=True),
    sa.Column("item_id", sa.Uuid, primary_key=True),
    required("settled", sa.Boolean, comment="what was pending was complete just before"),
    timestamp("noted_at", server_default=sa.func.now()),
    comment="items that say something new by an import whose end is not told yet",
)

outdated_scales = sa.Table(
    "outdated_scales",
    metadata,
    project_column(primary_key=True),
    sa.Column("position", sa.Uuid, comment="items.id up to which the terms are read anew"),
    comment="projects whose terms and pending suggestions are of an older version",
)

linked_pairs = sa.Table(
    "linked_pairs",
    metadata,
    project_column(),
    sa.Column("link_id", sa.Uuid, primary_key=True),
    required("requirement_id", sa.Uuid),
    required("test_case_id", sa.Uuid),
    required("sequence", sa.BigInteger),
    required("deleted", sa.Boolean),
    sa.Index(None, "project_id", "requirement_id", "test_case_id", postgresql_where=sa.text("NOT deleted")),
)

embedding_model = sa.Table(
    "embedding_model",
    metadata,
    only_row(),
    sa.Column("model", sa.Text),
    required("in_use", sa.Boolean, comment="for software of before 0015: embeddings_in_use says it"),
    comment="what workers compute with: of the installation",
)

embeddings_in_use = sa.Table(
    "embeddings_in_use",
    metadata,
    project_column(primary_key=True),
    required("model", sa.Text),
    comment="the vectors of all items are there, and hybrid scores are made of them",
)

# Where the server has pgvector.
embeddings = sa.Table(
    "embeddings",
    metadata,
    project_column(),
    sa.Column("item_id", sa.Uuid, primary_key=True),
    sa.Column("model", sa.Text, primary_key=True),
    sa.Column("text_hash", sa.Text, comment="md5 of the items.text that the vectors are of"),
    sa.Column("whole", HalfVector, comment="unit vector times 2000, whole numbers; null where there are no words"),
    sa.Column("passages", pg.ARRAY(HalfVector)),
    *_lease(counts_attempts=False),
    sa.Index(None, "project_id"),
    sa.Index("ix_embeddings_claimed_until", "claimed_until", postgresql_where=sa.text("claimed_until IS NOT NULL")),
    info={NEEDS_TYPE: "halfvec"},
)

scoring_queue = sa.Table(
    "scoring_queue",
    metadata,
    project_column(),
    sa.Column("item_id", sa.Uuid, primary_key=True),
    required("sequence", sa.BigInteger),
    sa.Column("actor_id", sa.BigInteger),
    required("actor_email", sa.Text),
    required("correlation_id", sa.Text),
    timestamp("due_at", server_default=sa.func.now(), index=True),
    *_lease(),
    timestamp("announced_until", nullable=True),
    sa.Column("traceparent", sa.Text),
    sa.Index(None, "project_id", "due_at"),
)

runs = sa.Table(
    "runs",
    metadata,
    project_column(),
    sa.Column("id", sa.Uuid, primary_key=True),
    required("status", sa.Text),
    required("algorithm", sa.Text),
    required("threshold", sa.Double),
    required("progress", sa.Double, server_default=sa.text("0")),
    *_run_counts(),
    required("rescore", sa.Boolean, server_default=sa.text("true")),
    required(
        "pending_only",
        sa.Boolean,
        server_default=sa.text("false"),
        comment="scores pending suggestions anew for a new scale, and suggests nothing",
    ),
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
    timestamp("created_at"),
    required("created_by", sa.Text),
    timestamp("started_at", nullable=True),
    timestamp("finished_at", nullable=True),
    sa.Column("error", sa.Text),
    sa.Column("advised_threshold", sa.Double, comment="would leave three a requirement, where more than ten are left"),
    sa.Column("actor_id", sa.BigInteger),
    required("correlation_id", sa.Text),
    *_lease(),
    one_of("status", "queued", "running", "completed", "failed", "cancelled"),
    one_of("algorithm", "tfidf", "keyword", "hybrid"),
    from_0_to_1("threshold"),
    from_0_to_1("progress"),
    sa.Index(None, "project_id", "created_at", "id"),
    sa.Index(
        "ix_runs_unfinished",
        "project_id",
        "created_at",
        postgresql_where=sa.text("status IN ('queued', 'running')"),
    ),
)

run_parts = sa.Table(
    "run_parts",
    metadata,
    project_column(),
    sa.Column("run_id", sa.Uuid, sa.ForeignKey(runs.c.id, ondelete="CASCADE"), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),
    required("first_id", sa.Uuid, comment="the part is the requirements with this id or a later one"),
    sa.Column("until_id", sa.Uuid, comment="... and before this id; null: to the last"),
    required("done", sa.Boolean, server_default=sa.text("false")),
    required("progress", sa.Double, server_default=sa.text("0")),
    *_run_counts(),
    *_lease(),
    from_0_to_1("progress"),
    comment="the parts of runs that have not ended",
)

suggestions = sa.Table(
    "suggestions",
    metadata,
    project_column(),
    sa.Column("id", sa.Uuid, primary_key=True),
    required("requirement_id", sa.Uuid),
    required("test_case_id", sa.Uuid),
    required("similarity_score", sa.Double),
    required("suggestion_method", sa.Text),
    sa.Column("suggestion_reason", sa.Text),
    sa.Column("suggestion_metadata", pg.JSONB),
    required("status", sa.Text),
    timestamp("created_at"),
    timestamp("reviewed_at", nullable=True),
    sa.Column("reviewed_by", sa.String(100)),
    sa.Column("feedback", sa.Text),
    sa.Column("link_id", sa.Uuid),
    sa.Column("run_id", sa.Uuid),
    required(
        "withdrawn",
        sa.Boolean,
        server_default=sa.text("false"),
        comment="expired, since a run scored it below its threshold: it may come back",
    ),
    required(
        "requirement_text_sequence",
        sa.BigInteger,
        comment="items.text_sequence of the text that was scored, or reviewed",
    ),
    required(
        "test_case_text_sequence", sa.BigInteger, comment="items.text_sequence of the text that was scored, or reviewed"
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
    timestamp("pending_since", nullable=True, comment="since when it is pending again; null: since created_at"),
    sa.Column("variant_group", sa.Text, comment="of those of its requirement whose test cases are variants"),
    from_0_to_1("similarity_score"),
    one_of("suggestion_method", "semantic_similarity", "keyword_match", "heuristic", "hybrid"),
    one_of("status", "pending", "accepted", "rejected", "expired"),
    sa.Index(
        "uq_suggestions_pending_pair",
        "requirement_id",
        "test_case_id",
        unique=True,
        postgresql_where=sa.text("status = 'pending'"),
    ),
    sa.Index(None, "project_id", "requirement_id", "test_case_id", postgresql_include=["status"]),
    sa.Index(None, "project_id", "test_case_id"),
    sa.Index(None, "project_id", "created_at", "id"),
    sa.Index(None, "project_id", "similarity_score", "id"),
    sa.Index(None, "project_id", "status", "similarity_score", "id"),
    sa.Index(None, "project_id", "relevance", "id"),
    sa.Index(
        "ix_suggestions_variant_group",
        "project_id",
        "requirement_id",
        "variant_group",
        postgresql_where=sa.text("variant_group IS NOT NULL"),
    ),
    sa.Index(
        "ix_suggestions_withdrawn",
        "project_id",
        "requirement_id",
        "test_case_id",
        postgresql_where=sa.text("withdrawn"),
    ),
    sa.Index(
        "ix_suggestions_reviewed",
        "project_id",
        "reviewed_at",
        postgresql_where=sa.text("status IN ('accepted', 'rejected')"),
    ),
)

suggestion_counts = sa.Table(
    "suggestion_counts",
    metadata,
    project_column(),
    sa.Column("slot", sa.BigInteger, sa.Identity(always=True), primary_key=True),
    required("status", sa.Text),
    required("rows", sa.BigInteger),
    sa.Index(None, "project_id", "status"),
    comment="how many suggestions have a status: the sum over its slots; kept by triggers",
    postgresql_with={"fillfactor": 20},
)

accept_intents = sa.Table(
    "accept_intents",
    metadata,
    project_column(),
    sa.Column("suggestion_id", sa.Uuid, sa.ForeignKey(suggestions.c.id, ondelete="CASCADE"), primary_key=True),
    sa.Column("reviewer_id", sa.BigInteger),
    required("reviewer_email", sa.Text),
    sa.Column("feedback", sa.Text),
    required("link_type", sa.Text),
    required("correlation_id", sa.Text),
    timestamp("created_at"),
    timestamp("due_at", index=True),
    sa.Column("review_id", sa.Uuid),
    sa.Column("link_id", sa.Uuid, comment="of an acceptance that was lost with an older backup"),
    required("at_page", sa.Boolean, server_default=sa.false(), comment="done in the page, by the reviewer's own hands"),
    one_of("link_type", "covers", "verifies", "validates", "related"),
)

undo_intents = sa.Table(
    "undo_intents",
    metadata,
    project_column(),
    sa.Column("suggestion_id", sa.Uuid, sa.ForeignKey(suggestions.c.id, ondelete="CASCADE"), primary_key=True),
    sa.Column("actor_id", sa.BigInteger),
    required("actor_email", sa.Text),
    required("correlation_id", sa.Text),
    timestamp("created_at"),
    timestamp("due_at", index=True),
    required("at_page", sa.Boolean, server_default=sa.false(), comment="done in the page, by the actor's own hands"),
)

reviews = sa.Table(
    "reviews",
    metadata,
    project_column(),
    sa.Column("id", sa.Uuid, primary_key=True),
    required("action", sa.Text),
    required("suggestion_ids", pg.ARRAY(sa.Uuid), comment="in the order in which they were asked for"),
    required("reviewed_by", sa.Text),
    timestamp("reviewed_at"),
    timestamp("undone_at", nullable=True, comment="when some of it, or all, was last undone"),
    sa.Column("undone_by", sa.Text),
    one_of("action", "accept", "reject"),
    sa.Index(None, "project_id", "undone_at"),
    comment="one row a request; suggestions.review_id says which of them still stand",
)

learning = sa.Table(
    "learning",
    metadata,
    project_column(primary_key=True),
    only_row(),
    required("seen", sa.Text),
    required("active", sa.Boolean),
    timestamp("since", nullable=True),
    timestamp("measured_at", nullable=True),
    required("accepted", sa.Integer),
    required("rejected", sa.Integer),
    sa.Column("by_score", sa.Double),
    sa.Column("with_reviews", sa.Double),
    sa.Column("error", sa.Double),
)

projects = sa.Table(
    "projects",
    metadata,
    project_column(primary_key=True),
    required("sequence", sa.BigInteger, comment="place in the feed of auth of the event that was applied last"),
    required("deleted", sa.Boolean),
    required("removed", sa.Boolean, server_default=sa.text("false"), comment="deleted, and nothing of it is left here"),
    sa.Column("automatic_suggestions", sa.Boolean),
    sa.Column("algorithm", sa.Text),
    sa.Column("threshold", sa.Double),
    sa.Column("language", sa.Text, comment="ISO 639-1, of all texts; else each is read in the one that it shows"),
    from_0_to_1("threshold"),
    comment="what projects want otherwise than the settings say; of deleted ones the tombstone",
)

add_tables_of_proposals(metadata)
