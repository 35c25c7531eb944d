"""The tables of proposals."""

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from chassis.db.schema import from_0_to_1, one_of, project_column, required, timestamp


def add_tables(metadata: sa.MetaData) -> None:
    """Describe the tables in the schema of the service."""
    proposals = sa.Table(
        "proposals",
        metadata,
        project_column(),
        sa.Column("id", sa.Uuid, primary_key=True),
        required("kind", sa.Text),
        required("status", sa.Text),
        sa.Column("requirement_id", sa.Uuid),
        sa.Column("test_case_id", sa.Uuid),
        required("target", pg.JSONB, comment="ids, with the version that was proposed for"),
        required("body", pg.JSONB),
        sa.Column("before", pg.JSONB, comment="of a change: what its fields said, and the differences"),
        required("digest", sa.Text, comment="of kind, target and body: the same proposal again has the same"),
        required("rationale", sa.Text),
        required("evidence", pg.JSONB),
        sa.Column("confidence", sa.Double, comment="as the agent says"),
        sa.Column("engine_score", sa.Double, comment="of the pair, by the scale of the queue"),
        required("agent_id", sa.Text, comment="of the API token, or of the session's user"),
        required("agent_name", sa.Text),
        sa.Column("owner_id", sa.BigInteger),
        required("owner_email", sa.Text),
        sa.Column("client", pg.JSONB, comment="name and version, as the program says"),
        required("batch", sa.Uuid, comment="proposed by one request"),
        timestamp("created_at"),
        timestamp("pending_since", nullable=True, comment="since when it is pending again; null: since created_at"),
        timestamp("reviewed_at", nullable=True),
        sa.Column("reviewed_by", sa.Text),
        sa.Column("feedback", sa.Text),
        sa.Column("review_id", sa.Uuid),
        sa.Column("suggestion_id", sa.Uuid, comment="the suggestion of its pair that was reviewed with it"),
        sa.Column("made_id", sa.Uuid, comment="of the link or item that accepting it made"),
        sa.Column(
            "requirement_text_sequence", sa.BigInteger, comment="items.text_sequence of the text of then, or review"
        ),
        sa.Column(
            "test_case_text_sequence", sa.BigInteger, comment="items.text_sequence of the text of then, or review"
        ),
        from_0_to_1("confidence"),
        from_0_to_1("engine_score"),
        one_of("kind", "link", "unlink", "confirm_link", "relation", "requirement", "test_case", "change"),
        one_of("status", "pending", "accepted", "rejected", "withdrawn", "expired", "outdated"),
        sa.Index(
            "uq_proposals_pending",
            "project_id",
            "agent_id",
            "digest",
            unique=True,
            postgresql_where=sa.text("status = 'pending'"),
        ),
        sa.Index(None, "project_id", "created_at", "id"),
        sa.Index(None, "project_id", "agent_id", "status"),
        sa.Index(None, "project_id", "status", "created_at", "id"),
        sa.Index(None, "project_id", "requirement_id", "test_case_id"),
        sa.Index(None, "project_id", "test_case_id"),
        sa.Index(None, "suggestion_id"),
        comment="what agents propose; nothing of the record changes until a person accepts it",
    )

    sa.Table(
        "proposal_intents",
        metadata,
        project_column(),
        sa.Column("proposal_id", sa.Uuid, sa.ForeignKey(proposals.c.id, ondelete="CASCADE"), primary_key=True),
        required("action", sa.Text),
        sa.Column("reviewer_id", sa.BigInteger),
        required("reviewer_email", sa.Text),
        sa.Column("feedback", sa.Text),
        required("correlation_id", sa.Text),
        timestamp("created_at"),
        timestamp("due_at", index=True),
        required("review_id", sa.Uuid),
        sa.Column("link_id", sa.Uuid, comment="of an acceptance that was lost with an older backup"),
        required(
            "at_page", sa.Boolean, server_default=sa.false(), comment="done in the page, by the reviewer's own hands"
        ),
        one_of("action", "accept", "undo"),
        comment="reviews of proposals that have begun and whose outcome is not known",
    )
