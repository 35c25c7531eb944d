"""The tables of results; no other table knows them."""

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from catalog_service.verdicts import Verdict
from chassis.db.schema import one_of, project_column, required, timestamp


def add_tables(metadata: sa.MetaData) -> None:
    """Describe the tables in the schema of the service."""
    _add_runs(metadata)
    _add_tests(metadata)
    _add_executions(metadata)
    states = sa.Table(
        "test_case_state",
        metadata,
        sa.Column("test_case_id", sa.Uuid, primary_key=True),
        sa.Column("context_id", sa.Integer, primary_key=True, autoincrement=False),
        project_column(),
        required("status", sa.Text),
        required("run_id", sa.Uuid),
        sa.Column("commit", sa.Text),
        timestamp("at"),
        required("test_case_version", sa.Integer),
        timestamp("last_pass_at", nullable=True),
        required("outcomes", sa.Text, comment="of the last 20 runs that had it, the newest last"),
        required("flips", sa.Integer, comment="changes without a change of commit among the last 10"),
        comment="how a test case ended last on a branch and environment",
    )
    sa.Index("ix_test_case_state_context_id", states.c.context_id)
    sa.Table(
        "state_changes",
        metadata,
        project_column(primary_key=True),
        sa.Column("slot", sa.Integer, sa.Identity(always=True), primary_key=True),
        required("changes", sa.BigInteger),
        comment="how many statements have changed test_case_state: the sum over slots; kept by a trigger",
    )
    sa.Table(
        "daily_counts",
        metadata,
        sa.Column("day", sa.Date, primary_key=True),
        sa.Column("context_id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("test_id", sa.BigInteger, primary_key=True, autoincrement=False),
        project_column(),
        *(required(name, sa.Integer) for name in ("passed", "failed", "flaky", "skipped")),
        required("duration_ms", sa.BigInteger),
    )

    sa.Table(
        "verdict_days",
        metadata,
        project_column(primary_key=True),
        sa.Column("day", sa.Date, primary_key=True),
        sa.Column("branch", sa.Text, primary_key=True),
        sa.Column("module", sa.Text, primary_key=True, comment="empty for what is in none"),
        *(required(verdict.value, sa.Integer) for verdict in Verdict),
        comment="requirements by their verdicts at the end of a day, UTC",
    )
    sa.Table(
        "gate_policies",
        metadata,
        sa.Column("id", sa.Uuid, primary_key=True),
        project_column(),
        required("name", sa.Text),
        required("rules", pg.JSON),
        required("created_by", sa.Text),
        timestamp("created_at"),
        timestamp("updated_at"),
        sa.UniqueConstraint("project_id", "name"),
    )
    sa.Table(
        "result_jobs",
        metadata,
        sa.Column("id", sa.Uuid, primary_key=True),
        project_column(),
        required("status", sa.Text),
        timestamp("created_at"),
        timestamp("ended_at", nullable=True),
        sa.Column("outcome", pg.JSON, comment="the answer without its run, whose id it has, or the problem"),
        sa.Column("claim", sa.Uuid),
        timestamp("claimed_until", nullable=True),
        one_of("status", "running", "completed", "failed"),
        comment="uploads of results that were answered before they were stored",
    )


def _add_runs(metadata: sa.MetaData) -> None:
    sa.Table(
        "run_contexts",
        metadata,
        sa.Column("id", sa.Integer, sa.Identity(always=True), primary_key=True),
        project_column(),
        required("branch", sa.Text),
        required("environment", sa.Text, comment="empty where runs name none"),
        timestamp("last_run_at"),
        sa.UniqueConstraint("project_id", "branch", "environment"),
        comment="branches and environments that runs were of",
    )
    runs = sa.Table(
        "test_runs",
        metadata,
        sa.Column("id", sa.Uuid, primary_key=True),
        project_column(),
        required("key", sa.Text, comment="what the pipeline calls it, such as github:owner/name:run"),
        sa.Column("name", sa.Text),
        required("context_id", sa.Integer),
        required("branch", sa.Text),
        required("environment", sa.Text),
        sa.Column("commit", sa.Text),
        sa.Column("build_url", sa.Text),
        timestamp("at", comment="where it stands among others: when it started, else when it was made"),
        timestamp("started_at", nullable=True),
        timestamp("finished_at", nullable=True),
        required("status", sa.Text),
        required("is_manual", sa.Boolean, server_default=sa.false()),
        sa.Column("shards", sa.Integer, comment="how many uploads of an attempt end it"),
        required("counts", pg.JSON, comment="tests by how they ended"),
        required("duration_ms", sa.BigInteger, server_default="0", comment="of its tests together"),
        required("created_by", sa.Text),
        timestamp("created_at"),
        timestamp("updated_at"),
        sa.UniqueConstraint("project_id", "key"),
        one_of("status", "running", "completed"),
    )
    sa.Index("ix_test_runs_at_id", runs.c.project_id, runs.c.at.desc(), runs.c.id)
    sa.Index("ix_test_runs_context_id_at", runs.c.context_id, runs.c.at.desc())
    sa.Index("ix_test_runs_commit", runs.c.project_id, runs.c.commit)
    sa.Index("ix_test_runs_running", runs.c.updated_at, postgresql_where=runs.c.status == "running")
    sa.Table(
        "run_uploads",
        metadata,
        sa.Column("id", sa.Uuid, primary_key=True),
        project_column(),
        required("run_id", sa.ForeignKey("test_runs.id", ondelete="CASCADE")),
        required("sha256", sa.Text),
        sa.Column("shard", sa.Integer),
        sa.Column("shards", sa.Integer),
        required("attempt", sa.Integer),
        required("format", sa.Text),
        sa.Column("file_name", sa.Text),
        required("size", sa.BigInteger),
        required("counts", pg.JSON, comment="results of the file by how they ended"),
        required("warnings", pg.JSON),
        required("created_by", sa.Text),
        timestamp("created_at"),
        sa.UniqueConstraint("run_id", "sha256"),
    )


def _add_tests(metadata: sa.MetaData) -> None:
    tests = sa.Table(
        "automated_tests",
        metadata,
        sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
        project_column(),
        required("fingerprint", sa.LargeBinary),
        *(required(name, sa.Text) for name in ("class_name", "name", "suite", "file")),
        sa.Column("full_name", sa.Text, comment="a name with parameters that it ran by, where it has any"),
        required("is_manual", sa.Boolean, server_default=sa.false()),
        sa.Column("merged_into", sa.BigInteger, comment="another test that it was renamed to"),
        timestamp("first_seen"),
        timestamp("last_seen"),
        sa.UniqueConstraint("project_id", "fingerprint"),
        comment="tests as CI names them; manual ones stand for test cases that people execute",
    )
    sa.Index("ix_automated_tests_class_name", tests.c.project_id, tests.c.class_name)
    matches = sa.Table(
        "automated_test_cases",
        metadata,
        project_column(),
        sa.Column("test_id", sa.ForeignKey("automated_tests.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("test_case_id", sa.Uuid, primary_key=True),
        required("matched_by", sa.Text),
        timestamp("named_at", comment="of the newest run that named it, or when a person did"),
        one_of("matched_by", "named", "name", "automation_id", "person", "created"),
        comment="which test cases the results of a test count for",
    )
    sa.Index(None, matches.c.test_case_id)


def _add_executions(metadata: sa.MetaData) -> None:
    executions = sa.Table(
        "executions",
        metadata,
        sa.Column("test_id", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("context_id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("at", sa.DateTime(timezone=True), primary_key=True),
        sa.Column("run_id", sa.Uuid, primary_key=True),
        project_column(),
        sa.Column("duration_ms", sa.Integer),
        required("status", sa.Text),
        required(
            "outcomes",
            sa.Text,
            comment="of each attempt: 0 not run, 1 skipped, 2 passed, 3 passed in the end, 4 failed",
        ),
        postgresql_partition_by="RANGE (at)",
    )
    sa.Index(None, executions.c.run_id)
    failures = sa.Table(
        "execution_failures",
        metadata,
        sa.Column("test_id", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("at", sa.DateTime(timezone=True), primary_key=True),
        sa.Column("run_id", sa.Uuid, primary_key=True),
        project_column(),
        required("attempt", sa.Integer),
        sa.Column("message", sa.Text),
        sa.Column("trace", sa.Text),
        required("iterations", pg.ARRAY(sa.Text)),
        postgresql_partition_by="RANGE (at)",
    )
    sa.Index(None, failures.c.run_id)
