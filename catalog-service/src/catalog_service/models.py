"""The tables of the record: requirements, test cases, the links and relations between them, what made them suspect."""

from enum import StrEnum
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from catalog_service.exchange.models import add_tables
from catalog_service.executions.models import add_tables as add_tables_of_executions
from catalog_service.relations.models import add_tables as add_table_of_relations
from catalog_service.timeline.models import add_tables as add_tables_of_timelines
from catalog_service.values import (
    AutomationStatus,
    LinkSource,
    LinkType,
    PriorityLevel,
    RequirementStatus,
    RequirementType,
    TestCaseStatus,
    TestCaseType,
)
from chassis.db.schema import from_0_to_1, new_metadata, one_of, only_row, project_column, required, timestamp

metadata = new_metadata()

_IN_ONE_PIECE = {"toast_tuple_target": 4080}
"""Items of a page or less are read with their texts at once."""


def _item_columns() -> list[sa.Column[Any]]:
    """What requirements and test cases have in common, in the order of the API's answers."""
    return [
        sa.Column("id", sa.Uuid, primary_key=True),
        sa.Column("external_id", sa.String(100)),
        required("title", sa.String(500)),
        required("description", sa.Text),
        required("type", sa.Text),
        required("priority", sa.Text),
        required("status", sa.Text),
        sa.Column("module", sa.String(100)),
        required("tags", pg.ARRAY(sa.Text), server_default=sa.text("'{}'")),
        # json, not jsonb: objects come back as they were sent, so that the ETag of a create is that of a read.
        sa.Column("custom_metadata", pg.JSON),
        sa.Column("source_system", sa.String(50)),
        sa.Column("source_url", sa.Text),
        sa.Column("created_by", sa.String(100)),
        required("version", sa.Integer, server_default="1"),
        timestamp("created_at"),
        timestamp("updated_at"),
        # Made by a trigger from the texts.
        sa.Column("search", pg.TSVECTOR),
        project_column(),
    ]


def _outline_columns() -> list[sa.Column[Any]]:
    """Where requirements and test cases stand in their outline."""
    return [
        required("section", pg.ARRAY(sa.Text), server_default=sa.text("'{}'")),
        required(
            "position",
            sa.Text(collation="C"),
            server_default=sa.text("position_key(clock_timestamp())"),
            comment="keys of the sections that it is in, and its own, with / between them",
        ),
    ]


def _item_constraints(table: str, types: type[StrEnum], statuses: type[StrEnum]) -> list[sa.Constraint]:
    return [
        sa.UniqueConstraint("project_id", "external_id", name=f"uq_{table}_external_id"),
        sa.CheckConstraint("title <> ''", name="title"),
        sa.CheckConstraint("description <> ''", name="description"),
        one_of("type", *types),
        one_of("priority", *PriorityLevel),
        one_of("status", *statuses),
        sa.CheckConstraint("version >= 1", name="version"),
    ]


def _item_indexes(table: sa.Table, *filters: str) -> None:
    project = table.c.project_id
    # Newest first they are read backwards: what comes last is put behind the others, into pages that become full.
    sa.Index(None, project, table.c.created_at, table.c.id.desc())
    sa.Index(None, project, table.c.updated_at, table.c.id.desc())
    sa.Index(f"ix_{table.name}_lower_title_id", project, sa.func.lower(table.c.title), table.c.id)
    # The reports' order, and all that they ask of an item without reading the item itself.
    sa.Index(None, project, table.c.module, table.c.external_id, table.c.id, postgresql_include=["version"])
    # Filters in whatever combination are counted by it, as a whole if need be: it is small.
    sa.Index(
        f"ix_{table.name}_filters",
        *(table.c[name] for name in ("project_id", "status", "priority", "type", "module", "created_by", *filters)),
    )
    # Their beginnings: an entry of an index cannot be long.
    sa.Index(f"ix_{table.name}_tag_keys", sa.func.tag_keys(table.c.tags), postgresql_using="gin")
    # Its values of the project's fields; most items have none.
    sa.Index(
        f"ix_{table.name}_field_keys",
        sa.func.field_keys(table.c.custom_metadata),
        postgresql_using="gin",
        postgresql_where=sa.text("(custom_metadata -> 'fields') IS NOT NULL"),
    )
    sa.Index(f"ix_{table.name}_position", project, table.c.position, table.c.id)
    # Only an item that has changed can have made a link suspect.
    sa.Index(f"ix_{table.name}_changed", project, table.c.id, table.c.version, postgresql_where=table.c.version > 1)
    sa.Index(
        f"ix_{table.name}_priority_id",
        project,
        sa.text("array_position(ARRAY['low'::text, 'medium'::text, 'high'::text, 'critical'::text], priority) DESC"),
        table.c.id,
    )
    sa.Index(
        f"ix_{table.name}_external_id_prefix",
        project,
        sa.func.lower(table.c.external_id).label("lower_external_id"),
        postgresql_ops={"lower_external_id": "text_pattern_ops"},
    )
    sa.Index(None, table.c.search, postgresql_using="gin", postgresql_with={"gin_pending_list_limit": 32 * 1024})
    # What imports have left for the worker.
    sa.Index(f"ix_{table.name}_unsearched", table.c.id, postgresql_where=table.c.search.is_(None))


project_levels = sa.Table(
    "project_levels",
    metadata,
    project_column(primary_key=True),
    sa.Column("key", sa.String(40), primary_key=True),
    required("place", sa.Integer, comment="from the top, 1 on"),
    required("name", sa.String(100)),
    required("needs", pg.ARRAY(sa.Text)),
    comment="levels of the requirements of projects, as their admins have defined them",
)

sections = sa.Table(
    "sections",
    metadata,
    project_column(primary_key=True),
    sa.Column("item_kind", sa.Text, primary_key=True),
    sa.Column("above", sa.Text(collation="C"), primary_key=True, comment="position of the section that it is in"),
    sa.Column("title", sa.String(300), primary_key=True),
    required("position", sa.Text(collation="C"), comment="what positions of its items begin with"),
    sa.Column("section_text", sa.Text),
    one_of("item_kind", "requirement", "test_case"),
    comment="sections of the outline; one without items is as if it were not there",
)
sa.Index(None, sections.c.project_id, sections.c.item_kind, sections.c.position)

requirements = sa.Table(
    "requirements",
    metadata,
    *_item_columns(),
    *_outline_columns(),
    sa.Column("level", sa.String(40)),
    required("derived", sa.Boolean, server_default=sa.text("false")),
    sa.Column("rationale", sa.Text),
    *_item_constraints("requirements", RequirementType, RequirementStatus),
    sa.ForeignKeyConstraint(
        ("project_id", "level"),
        ("project_levels.project_id", "project_levels.key"),
        name="fk_requirements_level",
        # Only with their project; a level that is in use is refused to be removed.
        ondelete="SET NULL (level)",
    ),
    postgresql_with=_IN_ONE_PIECE,
)
_item_indexes(requirements, "level", "derived")
sa.Index(
    "ix_requirements_level",
    requirements.c.project_id,
    requirements.c.level,
    postgresql_where=requirements.c.level.is_not(None),
)

test_cases = sa.Table(
    "test_cases",
    metadata,
    *_item_columns(),
    sa.Column("steps", pg.JSON),
    sa.Column("preconditions", sa.Text),
    sa.Column("postconditions", sa.Text),
    sa.Column("test_data", pg.JSON),
    required("automation_status", sa.Text),
    sa.Column("execution_time_minutes", sa.Integer),
    *_outline_columns(),
    *_item_constraints("test_cases", TestCaseType, TestCaseStatus),
    one_of("automation_status", *AutomationStatus),
    sa.CheckConstraint("execution_time_minutes >= 0", name="execution_time_minutes"),
    postgresql_with=_IN_ONE_PIECE,
)
_item_indexes(test_cases, "automation_status")
sa.Index(
    "ix_test_cases_automation_id",
    sa.text("(custom_metadata ->> 'automation_id')"),
    postgresql_where=sa.text("(custom_metadata ->> 'automation_id') IS NOT NULL"),
    _table=test_cases,
)

item_revisions = sa.Table(
    "item_revisions",
    metadata,
    project_column(),
    sa.Column("item_id", sa.Uuid, primary_key=True, comment="a requirement's or a test case's"),
    sa.Column("version", sa.Integer, primary_key=True, autoincrement=False),
    required("changed_fields", pg.ARRAY(sa.Text)),
    timestamp("changed_at"),
)

item_changes = sa.Table(
    "item_changes",
    metadata,
    project_column(),
    sa.Column(
        "item_id", sa.Uuid, primary_key=True, comment="a requirement's or a test case's; stays when it is deleted"
    ),
    sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
    required("kind", sa.Text, comment="requirement or test_case"),
    required("action", sa.Text, comment="updated, deleted; created where created_by names another"),
    required("actor", sa.Text),
    timestamp("occurred_at"),
    required("version", sa.Integer, comment="of the item after it"),
    required("told", pg.JSON, comment="the changes; of a deletion, the item as it was"),
    sa.Column("import_id", sa.Uuid, comment="of the import that did it, if one did"),
    comment="what happened to items; written by a trigger of their events",
)

links = sa.Table(
    "links",
    metadata,
    project_column(),
    sa.Column("id", sa.Uuid, primary_key=True),
    required("requirement_id", sa.ForeignKey("requirements.id", ondelete="CASCADE")),
    required("test_case_id", sa.ForeignKey("test_cases.id", ondelete="CASCADE")),
    required("link_type", sa.Text),
    required("link_source", sa.Text),
    sa.Column("confidence_score", sa.Double),
    sa.Column("notes", sa.Text),
    timestamp("created_at"),
    sa.Column("created_by", sa.String(100)),
    timestamp("confirmed_at", nullable=True),
    sa.Column("confirmed_by", sa.String(100)),
    timestamp("updated_at", server_default=sa.func.now()),
    required("requirement_version", sa.Integer, comment="when made or last confirmed"),
    required("test_case_version", sa.Integer, comment="when made or last confirmed"),
    sa.UniqueConstraint("requirement_id", "test_case_id", name="uq_requirement_test_case"),
    one_of("link_type", *LinkType),
    one_of("link_source", *LinkSource),
    from_0_to_1("confidence_score"),
)
sa.Index(None, links.c.test_case_id)
sa.Index(None, links.c.project_id, links.c.created_at, links.c.id.desc())
sa.Index(None, links.c.project_id, links.c.updated_at, links.c.id.desc())
sa.Index(None, links.c.project_id, links.c.link_source, links.c.link_type)

waiting_references = sa.Table(
    "waiting_references",
    metadata,
    project_column(),
    sa.Column("id", sa.Uuid, primary_key=True),
    required("kind", sa.Text),
    required("owner_kind", sa.Text),
    sa.Column(
        "owner_id",
        sa.Uuid,
        comment="the requirement or test case that has it; null: none has, owner_key is the key of that end",
    ),
    sa.Column("owner_key", sa.String(100)),
    required("wanted_kind", sa.Text),
    required("key", sa.String(100), comment="the external_id that it waits for"),
    sa.Column("link_type", sa.Text),
    sa.Column("confidence_score", sa.Double),
    sa.Column("notes", sa.Text),
    sa.Column("source", sa.Text, comment="where in which file it stands"),
    sa.Column("import_id", sa.Uuid),
    timestamp("since"),
    sa.Column("created_by", sa.String(100)),
    sa.Column("role", sa.String(100), comment="what another tool calls a relation"),
    sa.UniqueConstraint(
        *("project_id", "kind", "owner_kind", "owner_id", "owner_key", "wanted_kind", "key"),
        name="uq_waiting_references_ends",
        postgresql_nulls_not_distinct=True,
    ),
    one_of("kind", "link", "relation"),
    one_of("owner_kind", "requirement", "test_case"),
    one_of("wanted_kind", "requirement", "test_case"),
    sa.CheckConstraint("num_nonnulls(owner_id, owner_key) = 1", name="owner"),
    comment="references to items that are not there yet",
)
sa.Index(None, waiting_references.c.project_id, waiting_references.c.since.desc(), waiting_references.c.id)
sa.Index(None, waiting_references.c.project_id, waiting_references.c.wanted_kind, waiting_references.c.key)
sa.Index(
    "ix_waiting_references_owner_key",
    *(waiting_references.c[name] for name in ("project_id", "owner_kind", "owner_key")),
    postgresql_where=waiting_references.c.owner_key.is_not(None),
)
sa.Index(None, waiting_references.c.owner_id)

for _item in ("requirement", "test_case"):
    sa.Table(
        f"linked_{_item}s",
        metadata,
        project_column(),
        sa.Column(f"{_item}_id", sa.Uuid, primary_key=True),
        required("links", sa.Integer),
        comment=f"each {_item} that has links, and how many; kept by triggers",
    )

row_counts = sa.Table(
    "row_counts",
    metadata,
    project_column(primary_key=True),
    sa.Column("table_name", sa.Text, primary_key=True),
    sa.Column("slot", sa.Integer, sa.Identity(always=True, start=32), primary_key=True),
    required("rows", sa.BigInteger),
    comment="how many rows a table has: the sum over its slots; kept by triggers",
    # Each statement that adds or removes rows changes it: within its page.
    postgresql_with={"fillfactor": 20},
)

search_documents_due = sa.Table(
    "search_documents_due",
    metadata,
    sa.Column("table_name", sa.Text, primary_key=True),
    required("after", sa.Uuid, server_default="00000000-0000-0000-0000-000000000000"),
    comment="tables of items whose search documents are made anew, in order of id",
)

accepted_suggestions = sa.Table(
    "accepted_suggestions",
    metadata,
    project_column(),
    sa.Column("suggestion_id", sa.Uuid, primary_key=True),
    required("link_id", sa.Uuid, comment="stays when the link is deleted"),
    timestamp("created_at"),
)
sa.Index(None, accepted_suggestions.c.link_id)

applied_proposals = sa.Table(
    "applied_proposals",
    metadata,
    project_column(),
    sa.Column("proposal_id", sa.Uuid, primary_key=True),
    sa.Column("made_id", sa.Uuid, comment="of the item, link or relation that it made or changed"),
    timestamp("created_at"),
    sa.Column("undo", pg.JSON, comment="what taking it back needs; null: it cannot be taken back"),
    sa.Column("undone", pg.JSON, comment="what is another target since it was taken back; null: it is not"),
    comment="proposals that people accepted: each is applied once",
)

undone_acceptances = sa.Table(
    "undone_acceptances",
    metadata,
    project_column(),
    sa.Column("suggestion_id", sa.Uuid, primary_key=True),
    sa.Column("review_id", sa.Uuid, primary_key=True),
    comment="acceptances that make no link any more, however late they come again",
)

pending_pairs = sa.Table(
    "pending_pairs",
    metadata,
    project_column(),
    sa.Column("requirement_id", sa.Uuid, primary_key=True),
    sa.Column("test_case_id", sa.Uuid, primary_key=True),
    required("pending", sa.Boolean),
    required("sequence", sa.BigInteger, comment="place of the event in the feed of suggestion-service"),
    comment="pairs that wait for a review, and tombstones of those that did",
)
sa.Index(None, pending_pairs.c.test_case_id, postgresql_where=pending_pairs.c.pending)

pending_pairs_state = sa.Table(
    "pending_pairs_state",
    metadata,
    project_column(primary_key=True),
    only_row(),
    required("state", sa.Uuid),
    comment="another value after each change of pending_pairs",
)

coverage_days = sa.Table(
    "coverage_days",
    metadata,
    project_column(primary_key=True),
    sa.Column("overall", sa.Boolean, primary_key=True),
    sa.Column("module", sa.Text, primary_key=True, comment="empty for what is in none, and for the whole record"),
    sa.Column("day", sa.Date, primary_key=True),
    required("total_requirements", sa.Integer),
    required("covered_requirements", sa.Integer),
    required("suspect_links", sa.BigInteger),
    comment="a row a day and module, as it was at the end of the day, UTC",
)

coverage_state = sa.Table(
    "coverage_state",
    metadata,
    project_column(primary_key=True),
    only_row(),
    required("position", sa.BigInteger),
    required("total_requirements", sa.Integer),
    required("covered_requirements", sa.Integer),
    required("reached", sa.Boolean, comment="coverage is, or was when last decided, at the threshold or above"),
    timestamp("unjudged_since", nullable=True, comment="of the first change since coverage was judged"),
    timestamp("changed_at", nullable=True, comment="of the last change since coverage was judged"),
    sa.Column("cause", pg.JSON, comment="what names the event of the last change"),
    required(
        "open_imports", pg.ARRAY(sa.Uuid), server_default="{}", comment="those whose end the projection has not seen"
    ),
    sa.CheckConstraint("covered_requirements BETWEEN 0 AND total_requirements", name="counts"),
)

coverage_requirements = sa.Table(
    "coverage_requirements",
    metadata,
    project_column(),
    sa.Column("requirement_id", sa.Uuid, primary_key=True),
    required("links", sa.Integer),
    sa.CheckConstraint("links >= 0", name="links"),
)

projects = sa.Table(
    "projects",
    metadata,
    project_column(primary_key=True),
    required("sequence", sa.BigInteger, comment="place in the feed of auth of the event that was applied last"),
    required("deleted", sa.Boolean),
    required("removed", sa.Boolean, server_default=sa.text("false"), comment="deleted, and nothing of it is left here"),
    sa.Column("coverage_threshold", sa.Double),
    sa.Column("gate", pg.JSON, comment="rules of its gate, as its settings say"),
    sa.Column("name_patterns", pg.JSON, comment="what in names of tests names test cases, as its settings say"),
    sa.Column("expected_lanes", pg.JSON, comment="lanes that commits of branches are to have, as its settings say"),
    sa.Column("result_properties", pg.JSON, comment="what names test cases in results, as its settings say"),
    required("archived", sa.Boolean, server_default=sa.text("false"), comment="nothing in it is changed any more"),
    from_0_to_1("coverage_threshold"),
    comment="what projects want otherwise than the settings say; of deleted ones the tombstone",
)

project_fields = sa.Table(
    "project_fields",
    metadata,
    project_column(primary_key=True),
    required("revision", sa.BigInteger, comment="another one after each change"),
    required("fields", pg.JSON, comment="in their order"),
    required("former", pg.JSON, comment="what kind those were that were removed, by key"),
    timestamp("updated_at"),
    comment="the fields that items of a project have beside those of all; as its admins have defined them",
)

add_tables(metadata)
add_tables_of_executions(metadata)
add_table_of_relations(metadata)
add_tables_of_timelines(metadata)
