"""Each row belongs to a project, and each project sees its own rows alone.

Writers wait while it runs, some seconds each 100,000 items; readers wait for some milliseconds at its end.
"""

from alembic import op

from chassis.db.isolation import add_project, isolate

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Give what is there to MAIN, begin the keys and indexes with the project, and put up the walls."""
    for table in TABLES:
        for statement in add_project(table):
            op.execute(statement)
    for table in KEYS:
        op.execute(
            f"ALTER TABLE {table} DROP CONSTRAINT pk_{table},"
            f" ADD CONSTRAINT pk_{table} PRIMARY KEY (project_id, {KEYS[table]})"
        )
    for table, name, columns in UNIQUE:
        op.execute(f"ALTER TABLE {table} DROP CONSTRAINT {name}, ADD CONSTRAINT {name} UNIQUE (project_id, {columns})")
    for table, more in (("requirements", ""), ("test_cases", ", automation_status")):
        for statement in INDEXES:
            op.execute(statement.format(table=table, more=more))
    for statement in STATEMENTS:
        op.execute(statement)
    for table in TABLES:
        for statement in isolate(table):
            op.execute(statement)


TABLES = (
    "requirements",
    "test_cases",
    "item_revisions",
    "item_changes",
    "links",
    "linked_requirements",
    "linked_test_cases",
    "row_counts",
    "accepted_suggestions",
    "undone_acceptances",
    "pending_pairs",
    "pending_pairs_state",
    "coverage_days",
    "coverage_state",
    "coverage_requirements",
    "import_jobs",
    "import_chunks",
    "import_rows",
    "import_mappings",
    "import_documents",
    "deleted_items",
    "reqif_schemas",
)

KEYS = {
    "row_counts": "table_name, slot",
    "pending_pairs_state": "only_row",
    "coverage_state": "only_row",
    "coverage_days": "overall, module, day",
}

UNIQUE = (
    ("requirements", "uq_requirements_external_id", "external_id"),
    ("test_cases", "uq_test_cases_external_id", "external_id"),
    ("import_mappings", "uq_import_mappings_name", "name"),
)

INDEXES = (
    "DROP INDEX ix_{table}_created_at_id, ix_{table}_updated_at_id, ix_{table}_lower_title_id,"
    " ix_{table}_module_external_id_id, ix_{table}_filters, ix_{table}_changed, ix_{table}_priority_id,"
    " ix_{table}_external_id_prefix",
    "CREATE INDEX ix_{table}_project_id_created_at_id ON {table} (project_id, created_at DESC, id)",
    "CREATE INDEX ix_{table}_project_id_updated_at_id ON {table} (project_id, updated_at DESC, id)",
    "CREATE INDEX ix_{table}_lower_title_id ON {table} (project_id, lower(title), id)",
    """
    CREATE INDEX ix_{table}_project_id_module_external_id_id ON {table} (project_id, module, external_id, id)
    INCLUDE (version)
    """,
    """
    CREATE INDEX ix_{table}_filters ON {table} (project_id, status, priority, type, module, created_by{more})
    """,
    "CREATE INDEX ix_{table}_changed ON {table} (project_id, id, version) WHERE version > 1",
    """
    CREATE INDEX ix_{table}_priority_id ON {table}
    (project_id, array_position(ARRAY['low', 'medium', 'high', 'critical'], priority) DESC, id)
    """,
    """
    CREATE INDEX ix_{table}_external_id_prefix ON {table} (project_id, lower(external_id) text_pattern_ops)
    """,
)

STATEMENTS = (
    "DROP INDEX ix_links_created_at_id, ix_links_updated_at_id, ix_links_link_source_link_type",
    "CREATE INDEX ix_links_project_id_created_at_id ON links (project_id, created_at DESC, id)",
    "CREATE INDEX ix_links_project_id_updated_at_id ON links (project_id, updated_at DESC, id)",
    "CREATE INDEX ix_links_project_id_link_source_link_type ON links (project_id, link_source, link_type)",
    "DROP INDEX ix_import_jobs_created_at_id, ix_import_mappings_created_at_id",
    "CREATE INDEX ix_import_jobs_project_id_created_at_id ON import_jobs (project_id, created_at DESC, id)",
    "CREATE INDEX ix_import_mappings_project_id_created_at_id ON import_mappings (project_id, created_at DESC, id)",
    "DROP INDEX ix_deleted_items_kind_external_id",
    "CREATE INDEX ix_deleted_items_project_id_kind_external_id ON deleted_items (project_id, kind, external_id)",
    # What takes the owner of a table or an index, and shows nothing of its rows.
    """
    CREATE FUNCTION analyze_import_rows() RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = public AS $$
    BEGIN
        ANALYZE import_rows;
    END
    $$
    """,
    # Of a table that was never analysed PostgreSQL takes a project to be one row in 200: it plans badly for large ones.
    """
    CREATE FUNCTION analyze_record() RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = public AS $$
    BEGIN
        ANALYZE requirements, test_cases, links, linked_requirements, linked_test_cases;
    END
    $$
    """,
    """
    CREATE FUNCTION merge_search_entries() RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = public AS $$
    BEGIN
        PERFORM gin_clean_pending_list('ix_requirements_search');
        PERFORM gin_clean_pending_list('ix_test_cases_search');
    END
    $$
    """,
    # Of texts alone, and an answer for each of them; only a superuser may say so.
    """
    DO $$ BEGIN
        IF current_setting('is_superuser')::boolean THEN ALTER FUNCTION tag_keys LEAKPROOF; END IF;
    END $$
    """,
)
