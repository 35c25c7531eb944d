"""The tables of imports: the job, the file, its rows as they are to become, saved mappings, deleted items."""

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from chassis.db.schema import project_column


def add_tables(metadata: sa.MetaData) -> None:
    """Describe the tables in the schema of the service."""
    _add_jobs(metadata)
    sa.Table(
        "import_chunks",
        metadata,
        project_column(),
        sa.Column("job_id", sa.ForeignKey("import_jobs.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("data", sa.LargeBinary, nullable=False),
    )
    _add_rows(metadata)
    mappings = sa.Table(
        "import_mappings",
        metadata,
        project_column(),
        sa.Column("id", sa.Uuid, primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("description", sa.Text),
        sa.Column("mapping", pg.JSON, nullable=False),
        sa.Column("created_by", sa.Text, nullable=False),
        _timestamp("created_at", nullable=False),
        _timestamp("updated_at", nullable=False),
        sa.UniqueConstraint("project_id", "name", name="uq_import_mappings_name"),
    )
    sa.Index("uq_import_mappings_lower_name", mappings.c.project_id, sa.func.lower(mappings.c.name), unique=True)
    sa.Index(None, mappings.c.project_id, mappings.c.created_at.desc(), mappings.c.id)
    deleted = sa.Table(
        "deleted_items",
        metadata,
        project_column(),
        sa.Column("kind", sa.Text, primary_key=True),
        sa.Column("id", sa.Uuid, primary_key=True),
        sa.Column("external_id", sa.Text),
        sa.Column("source_system", sa.Text),
        _timestamp("deleted_at", nullable=False),
        sa.Column("deleted_by", sa.Text, nullable=False),
        comment="so that no import brings back what people have deleted; for 400 days",
    )
    sa.Index(None, deleted.c.project_id, deleted.c.kind, deleted.c.external_id)
    sa.Index(None, deleted.c.deleted_at)
    sa.Table(
        "import_documents",
        metadata,
        project_column(),
        sa.Column("job_id", sa.ForeignKey("import_jobs.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("document", pg.JSON, nullable=False),
        comment="what reqif_schemas will have of a file once it is applied",
    )
    sa.Table(
        "reqif_schemas",
        metadata,
        project_column(),
        sa.Column("job_id", sa.Uuid, primary_key=True),
        sa.Column("document", pg.JSON, nullable=False),
        _timestamp("created_at", nullable=False),
        comment="types and tool extensions of imported ReqIF files, to be written out again",
    )


def _add_jobs(metadata: sa.MetaData) -> None:
    jobs = sa.Table(
        "import_jobs",
        metadata,
        project_column(),
        sa.Column("id", sa.Uuid, primary_key=True),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("phase", sa.Text),
        sa.Column("progress", sa.Double, nullable=False, server_default=sa.text("0"), comment="0..1"),
        sa.Column("format", sa.Text),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("file_name", sa.Text),
        sa.Column("size", sa.BigInteger),
        sa.Column("sha256", sa.Text),
        sa.Column("options", pg.JSON, nullable=False, comment="the query and the mapping that it was sent with"),
        sa.Column("counts", pg.JSON),
        sa.Column("summary", pg.JSON, comment="problems and warnings by code, and what else a person has to know"),
        sa.Column("rows_read", sa.Integer, nullable=False, server_default=sa.text("0")),
        sa.Column("plan_hash", sa.Text),
        sa.Column("record_position", sa.BigInteger),
        sa.Column("apply_options", pg.JSON, comment="of POST /imports/{id}/apply"),
        sa.Column(
            "applied_up_to",
            sa.Integer,
            nullable=False,
            server_default=sa.text("0"),
            comment="position in import_rows, where it is not all or nothing",
        ),
        sa.Column(
            "applied_step",
            sa.Integer,
            nullable=False,
            server_default=sa.text("0"),
            comment="the step that applied_up_to is of, from 1; 0 before the first",
        ),
        sa.Column("search_ready", sa.Boolean, nullable=False, server_default=sa.false()),
        sa.Column("cancel_requested", sa.Boolean, nullable=False, server_default=sa.false()),
        sa.Column("error", pg.JSON),
        sa.Column("created_by", sa.Text, nullable=False),
        sa.Column("created_by_id", sa.Integer),
        sa.Column("correlation_id", sa.Text, nullable=False),
        sa.Column("gateway_request_id", sa.Text),
        _timestamp("created_at", nullable=False),
        _timestamp("planned_at"),
        _timestamp("applied_at"),
        _timestamp("expires_at"),
        sa.Column("claim", sa.Uuid),
        _timestamp("claimed_until"),
        sa.Column("attempts", sa.Integer, nullable=False, server_default=sa.text("0")),
        sa.CheckConstraint(
            "status IN ('received', 'reading', 'planned', 'applying', 'applied', 'failed', 'cancelled', 'expired')",
            name="status",
        ),
    )
    sa.Index(None, jobs.c.project_id, jobs.c.created_at.desc(), jobs.c.id)
    sa.Index(
        "ix_import_jobs_open",
        jobs.c.created_at,
        postgresql_where=jobs.c.status.in_(["received", "reading", "planned", "applying"]),
    )


def _add_rows(metadata: sa.MetaData) -> None:
    sa.Table(
        "import_rows",
        metadata,
        project_column(),
        sa.Column("job_id", sa.Uuid, primary_key=True),
        sa.Column("position", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("kind", sa.Text, nullable=False, comment="requirement, test_case, link, revision or reference"),
        sa.Column("row", sa.Integer, comment="as a person counts the rows or objects of the file, from 1"),
        sa.Column("line", sa.Integer),
        sa.Column("sheet", sa.Text, comment="of a workbook"),
        sa.Column(
            "fields", pg.JSON, comment="by the names of the API; of an item all, as it is stored, of a link its ends"
        ),
        sa.Column("given", pg.ARRAY(sa.Text), comment="the fields that the file has; empty: it stands for all"),
        sa.Column("version", sa.Integer, comment="of a native file: of the item when it was exported"),
        sa.Column("problems", pg.JSON),
        sa.Column("warnings", pg.JSON),
        sa.Column("source", pg.JSON, comment="the cells as they were sent"),
        sa.Column(
            "action",
            sa.Text,
            comment="create, update, unchanged, conflict, error, skip, delete or wait; empty until it is planned",
        ),
        sa.Column("code", sa.Text, comment="why it is a conflict, an error or skipped"),
        sa.Column("target_id", sa.Uuid, comment="of the item or link that it changes, or that it becomes"),
        sa.Column("target_version", sa.Integer),
        sa.Column("changes", pg.JSON, comment="of an update: each field before and after"),
        comment="what a file holds, and what is to become of it: the plan",
        prefixes=["UNLOGGED"],
    )


def _timestamp(name: str, *, nullable: bool = True) -> sa.Column[Any]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable)
