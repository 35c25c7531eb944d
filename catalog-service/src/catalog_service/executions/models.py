"""The tables of results; no other table knows them."""

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from catalog_service.verdicts import Verdict
from chassis.db.schema import one_of, project_column, required, timestamp


def add_tables(metadata: sa.MetaData) -> None:
    """Describe the tables in the schema of the service."""
    _add_runs(metadata)
    _add_tests(metadata)
    _add_acceptances(metadata)
    _add_executions(metadata)
    _add_states(metadata)
    # Not used any more: versions before lanes, which may run beside this one for a while, write it.
    former = sa.Table(
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
    sa.Index("ix_test_case_state_context_id", former.c.context_id)
    sa.Table(
        "state_changes",
        metadata,
        project_column(primary_key=True),
        sa.Column("slot", sa.Integer, sa.Identity(always=True), primary_key=True),
        required("changes", sa.BigInteger),
        comment="how many statements have changed test_states and run_lanes: the sum over slots; kept by a trigger",
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
        required(
            "lane",
            sa.Text,
            server_default="",
            comment="the line of runs: workflow and job, manual, else the format of its files",
        ),
        required(
            "is_former",
            sa.Boolean,
            server_default=sa.false(),
            comment="of runs from before lanes: what a lane has of its tests takes their place",
        ),
        timestamp("last_run_at"),
        sa.UniqueConstraint("project_id", "branch", "environment", "lane"),
        comment="branches, environments and lanes that runs were of",
    )
    runs = sa.Table(
        "test_runs",
        metadata,
        sa.Column("id", sa.Uuid, primary_key=True),
        project_column(),
        required("key", sa.Text, comment="what the pipeline calls it, such as github:owner/name:run"),
        sa.Column("name", sa.Text),
        sa.Column("context_id", sa.Integer, comment="not used any more: a run may have several"),
        required("branch", sa.Text),
        required("environment", sa.Text),
        sa.Column("commit", sa.Text),
        sa.Column("build_url", sa.Text),
        timestamp("at", comment="where it stands among others: when it started, else when it was made"),
        timestamp(
            "placed_at",
            nullable=True,
            comment="when its commit began, as this run knows it: its own start, else the time of the commit",
        ),
        timestamp(
            "position",
            server_default=sa.func.now(),
            comment="where its commit stands among those of the branch: where the first run of it there puts it",
        ),
        timestamp("started_at", nullable=True),
        timestamp("finished_at", nullable=True),
        required("status", sa.Text),
        required("is_manual", sa.Boolean, server_default=sa.false()),
        sa.Column("shards", sa.Integer, comment="how many uploads of an attempt end it"),
        required(
            "ended_by_shards",
            sa.Boolean,
            server_default=sa.false(),
            comment="it goes on if a lane begins of which shards are missing",
        ),
        required(
            "is_forgotten",
            sa.Boolean,
            server_default=sa.false(),
            comment="it is over since nothing came for long: nobody has said that it has all its files",
        ),
        required("counts", pg.JSON, comment="tests by how they ended"),
        required("duration_ms", sa.BigInteger, server_default=sa.text("0"), comment="of its tests together"),
        required("created_by", sa.Text),
        timestamp("created_at"),
        timestamp("updated_at"),
        sa.UniqueConstraint("project_id", "key"),
        one_of("status", "running", "completed"),
    )
    sa.Index("ix_test_runs_at_id", runs.c.project_id, runs.c.at.desc(), runs.c.id)
    sa.Index("ix_test_runs_context_id_at", runs.c.context_id, runs.c.at.desc())
    sa.Index("ix_test_runs_commit", runs.c.project_id, runs.c.commit)
    sa.Index("ix_test_runs_branch_position", runs.c.project_id, runs.c.branch, runs.c.position.desc())
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
        sa.Column("job", sa.Text, comment="the job of CI that sent it, by a name that no other job of the run has"),
        sa.Column("job_try", sa.Text, comment="what tells tries of that job apart"),
        required("format", sa.Text),
        sa.Column("file_name", sa.Text),
        required("size", sa.BigInteger),
        required("counts", pg.JSON, comment="results of the file by how they ended"),
        required("warnings", pg.JSON),
        sa.Column("context_id", sa.Integer),
        required("is_partial", sa.Boolean, server_default=sa.false()),
        required("health", pg.ARRAY(sa.Text), server_default="{}", comment="why the file does not tell the whole"),
        required("created_by", sa.Text),
        timestamp("created_at"),
        sa.UniqueConstraint("run_id", "sha256", "context_id", "shard", "shards", "attempt"),
    )
    lanes = sa.Table(
        "run_lanes",
        metadata,
        sa.Column("run_id", sa.ForeignKey("test_runs.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("context_id", sa.Integer, primary_key=True, autoincrement=False),
        project_column(),
        timestamp("position"),
        required("health", pg.ARRAY(sa.Text), comment="why it does not tell the whole"),
        required("is_partial", sa.Boolean, comment="it ran a selection of the tests, as its caller says"),
        required("is_whole", sa.Boolean, comment="a test that it did not have is missing"),
        comment="what a run says of each branch, environment and lane that it had",
    )
    sa.Index("ix_run_lanes_context_id_position", lanes.c.context_id, lanes.c.position)
    sa.Index("ix_run_lanes_whole", lanes.c.context_id, lanes.c.position, postgresql_where=lanes.c.is_whole)


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
        # Each run changes its rows: within their pages where there is room.
        postgresql_with={"fillfactor": 50},
    )
    sa.Table(
        "forms_of_names",
        metadata,
        project_column(primary_key=True),
        required("form", sa.Integer),
        comment="the normal form that names of tests have been brought to; see executions.normal_forms",
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
        required(
            "is_aside",
            sa.Boolean,
            server_default=sa.false(),
            comment="named by another branch or a selection of tests alone, which takes nothing away",
        ),
        sa.Column(
            "iterations",
            pg.ARRAY(sa.Text),
            comment="hashes of the names of the iterations that name it; null: the whole test does",
        ),
        one_of("matched_by", "named", "name", "automation_id", "person", "created"),
        comment="which test cases the results of a test count for",
    )
    sa.Index(None, matches.c.test_case_id)
    sa.Table(
        "retired_tests",
        metadata,
        project_column(),
        sa.Column("test_id", sa.ForeignKey("automated_tests.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("context_id", sa.Integer, primary_key=True, autoincrement=False),
        timestamp("retired_at"),
        required("retired_by", sa.Text),
        required("note", sa.Text),
        comment="missing tests that a person has taken out of a branch, environment and lane,"
        " until they run there again",
    )


def _add_acceptances(metadata: sa.MetaData) -> None:
    accepted = sa.Table(
        "accepted_failures",
        metadata,
        sa.Column("id", sa.Uuid, primary_key=True),
        project_column(),
        sa.Column(
            "test_id",
            sa.ForeignKey("automated_tests.id", ondelete="CASCADE"),
            comment="the automated test, or else the test case",
        ),
        sa.Column("test_case_id", sa.Uuid),
        required("reason", sa.Text),
        timestamp("until"),
        sa.Column("issue_url", sa.Text),
        required(
            "settled",
            pg.ARRAY(sa.Integer),
            server_default="{}",
            comment="branches, environments and lanes where it has passed three whole runs since:"
            " it is not accepted there any more",
        ),
        sa.Column(
            "iterations",
            pg.ARRAY(sa.Text),
            comment="hashes of the names of what failed of the test when it was accepted; null: whatever fails of it",
        ),
        required("created_by", sa.Text),
        timestamp("created_at"),
        timestamp("ended_at", nullable=True),
        sa.Column("ended_by", sa.Text),
        sa.Column("ended_because", sa.Text),
        one_of("ended_because", "until", "no_longer_needed", "person"),
        sa.CheckConstraint("num_nonnulls(test_id, test_case_id) = 1", name="of_one"),
        comment="failures that people know of and accept until a time",
    )
    is_open = accepted.c.ended_at.is_(None)
    sa.Index("ix_accepted_failures_created_at_id", accepted.c.project_id, accepted.c.created_at.desc(), accepted.c.id)
    for name in ("test_id", "test_case_id"):
        sa.Index(
            f"uq_accepted_failures_{name}",
            accepted.c.project_id,
            accepted.c[name],
            unique=True,
            postgresql_where=is_open,
        )


def _add_states(metadata: sa.MetaData) -> None:
    states = sa.Table(
        "test_states",
        metadata,
        sa.Column("test_case_id", sa.Uuid, primary_key=True),
        sa.Column("test_id", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("context_id", sa.Integer, primary_key=True, autoincrement=False),
        project_column(),
        required("status", sa.Text, comment="of all its executions of the last commit together"),
        required("run_id", sa.Uuid),
        sa.Column("commit", sa.Text),
        timestamp("position", comment="of the last commit that had it; see test_runs"),
        timestamp("at"),
        timestamp("last_pass_at", nullable=True),
        required("outcomes", sa.Text, comment="of the last 20 runs that had it, the newest last"),
        required(
            "changes", sa.Integer, comment="how often it passed after a failure or failed after a pass among these"
        ),
        comment="how a test ended last on a branch, environment and lane, for each test case that it counts for",
    )
    sa.Index("ix_test_states_context_id", states.c.context_id)
    sa.Index("ix_test_states_test_id", states.c.test_id)


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
        sa.Column(
            "iterations",
            pg.JSONB,
            comment="outcomes of each iteration by a hash of its name, then a dot and one of its job; null: no names",
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
