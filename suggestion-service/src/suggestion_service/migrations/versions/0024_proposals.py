"""What agents propose, and reviews of it that have begun."""

from alembic import op

from chassis.db.isolation import isolate

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables, empty."""
    for statement in (*STATEMENTS, *isolate("proposals"), *isolate("proposal_intents")):
        op.execute(statement)


STATEMENTS = (
    """
    CREATE TABLE proposals (
        project_id text COLLATE "C" NOT NULL
            DEFAULT nullif(coalesce(current_setting('traceline.project', true), 'MAIN'), ''),
        id uuid NOT NULL,
        kind text NOT NULL,
        status text NOT NULL,
        requirement_id uuid,
        test_case_id uuid,
        target jsonb NOT NULL,
        body jsonb NOT NULL,
        before jsonb,
        digest text NOT NULL,
        rationale text NOT NULL,
        evidence jsonb NOT NULL,
        confidence double precision,
        engine_score double precision,
        agent_id text NOT NULL,
        agent_name text NOT NULL,
        owner_id bigint,
        owner_email text NOT NULL,
        client jsonb,
        batch uuid NOT NULL,
        created_at timestamptz NOT NULL,
        pending_since timestamptz,
        reviewed_at timestamptz,
        reviewed_by text,
        feedback text,
        review_id uuid,
        suggestion_id uuid,
        made_id uuid,
        requirement_text_sequence bigint,
        test_case_text_sequence bigint,
        CONSTRAINT pk_proposals PRIMARY KEY (id),
        CONSTRAINT ck_proposals_confidence CHECK (confidence BETWEEN 0 AND 1),
        CONSTRAINT ck_proposals_engine_score CHECK (engine_score BETWEEN 0 AND 1),
        CONSTRAINT ck_proposals_kind
            CHECK (kind IN ('link', 'unlink', 'confirm_link', 'relation', 'requirement', 'test_case', 'change')),
        CONSTRAINT ck_proposals_status
            CHECK (status IN ('pending', 'accepted', 'rejected', 'withdrawn', 'expired', 'outdated'))
    )
    """,
    "CREATE INDEX ix_proposals_project_id_agent_id_status ON proposals (project_id, agent_id, status)",
    "CREATE INDEX ix_proposals_project_id_created_at_id ON proposals (project_id, created_at, id)",
    "CREATE INDEX ix_proposals_project_id_requirement_id_test_case_id ON proposals"
    " (project_id, requirement_id, test_case_id)",
    "CREATE INDEX ix_proposals_project_id_status_created_at_id ON proposals (project_id, status, created_at, id)",
    "CREATE INDEX ix_proposals_project_id_test_case_id ON proposals (project_id, test_case_id)",
    "CREATE INDEX ix_proposals_suggestion_id ON proposals (suggestion_id)",
    "CREATE UNIQUE INDEX uq_proposals_pending ON proposals (project_id, agent_id, digest) WHERE status = 'pending'",
    "COMMENT ON TABLE proposals IS 'what agents propose; nothing of the record changes until a person accepts it'",
    "COMMENT ON COLUMN proposals.target IS 'ids, with the version that was proposed for'",
    "COMMENT ON COLUMN proposals.before IS 'of a change: what its fields said, and the differences'",
    "COMMENT ON COLUMN proposals.digest IS 'of kind, target and body: the same proposal again has the same'",
    "COMMENT ON COLUMN proposals.confidence IS 'as the agent says'",
    "COMMENT ON COLUMN proposals.engine_score IS 'of the pair, by the scale of the queue'",
    "COMMENT ON COLUMN proposals.agent_id IS 'of the API token, or of the session''s user'",
    "COMMENT ON COLUMN proposals.client IS 'name and version, as the program says'",
    "COMMENT ON COLUMN proposals.batch IS 'proposed by one request'",
    "COMMENT ON COLUMN proposals.pending_since IS 'since when it is pending again; null: since created_at'",
    "COMMENT ON COLUMN proposals.suggestion_id IS 'the suggestion of its pair that was reviewed with it'",
    "COMMENT ON COLUMN proposals.made_id IS 'of the link or item that accepting it made'",
    "COMMENT ON COLUMN proposals.requirement_text_sequence IS 'items.text_sequence of the text of then, or review'",
    "COMMENT ON COLUMN proposals.test_case_text_sequence IS 'items.text_sequence of the text of then, or review'",
    """
    CREATE TABLE proposal_intents (
        project_id text COLLATE "C" NOT NULL
            DEFAULT nullif(coalesce(current_setting('traceline.project', true), 'MAIN'), ''),
        proposal_id uuid NOT NULL,
        action text NOT NULL,
        reviewer_id bigint,
        reviewer_email text NOT NULL,
        feedback text,
        correlation_id text NOT NULL,
        created_at timestamptz NOT NULL,
        due_at timestamptz NOT NULL,
        review_id uuid NOT NULL,
        link_id uuid,
        at_page boolean DEFAULT false NOT NULL,
        CONSTRAINT pk_proposal_intents PRIMARY KEY (proposal_id),
        CONSTRAINT ck_proposal_intents_action CHECK (action IN ('accept', 'undo')),
        CONSTRAINT fk_proposal_intents_proposal_id_proposals
            FOREIGN KEY (proposal_id) REFERENCES proposals (id) ON DELETE CASCADE
    )
    """,
    "CREATE INDEX ix_proposal_intents_due_at ON proposal_intents (due_at)",
    "COMMENT ON TABLE proposal_intents IS 'reviews of proposals that have begun and whose outcome is not known'",
    "COMMENT ON COLUMN proposal_intents.link_id IS 'of an acceptance that was lost with an older backup'",
    "COMMENT ON COLUMN proposal_intents.at_page IS 'done in the page, by the reviewer''s own hands'",
)
