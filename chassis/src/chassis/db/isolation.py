"""Row-level security between projects: roles, policies, and what a connection says of its project.

Every table with a project's data has `project_id`, the project's key. The role APP, which services run as, sees and
writes the rows of the project that the connection names in the setting `traceline.project`; the role ACROSS, which
only `chassis.core.projects.across` asks for, sees those of all.
"""

import sys
from collections.abc import Iterator

from chassis.core.projects import ALL, MAIN, NONE

APP = "traceline_app"
ACROSS = "traceline_across"
SETTING = "traceline.project"

_LEAKPROOF = (
    "lower(text)",
    "ts_match_vq(tsvector, tsquery)",
    "arrayoverlap(anyarray, anyarray)",
    "arraycontains(anyarray, anyarray)",
    "arraycontained(anyarray, anyarray)",
    "textlike(text, text)",
    "texticlike(text, text)",
    "array_position(anycompatiblearray, anycompatible)",
    "text_pattern_ge(text, text)",
    "text_pattern_lt(text, text)",
    "starts_with(text, text)",
)
"""What conditions that an index answers are made of, and tells nothing of its arguments but its result."""

_ROLES = tuple(
    # Roles belong to the whole server: several programs may prepare its databases at the same time.
    f"DO $$ BEGIN IF to_regrole('{role}') IS NULL THEN CREATE ROLE {role} NOLOGIN; END IF;"
    " EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$"
    for role in (APP, ACROSS)
)
_MAKE_LEAKPROOF = tuple(f"ALTER FUNCTION pg_catalog.{function} LEAKPROOF" for function in _LEAKPROOF)

BY_SUPERUSER = (
    *_ROLES,
    "DO $$ BEGIN EXECUTE format('GRANT "
    f"{APP}, {ACROSS} TO %s', (SELECT datdba::regrole FROM pg_database WHERE datname = current_database())); END $$",
    *_MAKE_LEAKPROOF,
)
"""What a superuser executes in a database whose owner is none, before its first migration.

Where functions are not leakproof every answer is the same, and searches and filters read all rows of their project.
"""

PREPARE = (
    *_ROLES,
    *(
        f"DO $$ BEGIN IF NOT pg_has_role('{role}', 'MEMBER') THEN GRANT {role} TO CURRENT_USER; END IF; END $$"
        for role in (APP, ACROSS)
    ),
    f"GRANT USAGE ON SCHEMA public TO {APP}, {ACROSS}",
    # Where not everybody may make temporary tables.
    f"DO $$ BEGIN IF NOT has_database_privilege('{APP}', current_database(), 'TEMPORARY') THEN"
    f" EXECUTE 'GRANT TEMPORARY ON DATABASE ' || quote_ident(current_database()) || ' TO {APP}, {ACROSS}';"
    " END IF; END $$",
    f"ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO {APP}, {ACROSS}",
    f"ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT USAGE ON SEQUENCES TO {APP}, {ACROSS}",
    # For `chassis.db.statistics`.
    f"ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT MAINTAIN ON TABLES TO {ACROSS}",
    # Tables from before the roles; what a migration has taken from a role since stays taken.
    f"""
    DO $$ DECLARE of_before regclass; BEGIN
        FOR of_before IN SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
            AND pg_get_userbyid(relowner) = current_user AND NOT has_table_privilege('{APP}', oid, 'SELECT')
        LOOP EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %s TO {APP}, {ACROSS}', of_before); END LOOP;
        FOR of_before IN SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
            AND pg_get_userbyid(relowner) = current_user AND NOT has_table_privilege('{ACROSS}', oid, 'MAINTAIN')
        LOOP EXECUTE format('GRANT MAINTAIN ON %s TO {ACROSS}', of_before); END LOOP;
        FOR of_before IN SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace
            AND pg_get_userbyid(relowner) = current_user
            AND CASE WHEN relkind = 'S' THEN NOT has_sequence_privilege('{APP}', oid, 'USAGE') END
        LOOP EXECUTE format('GRANT USAGE ON SEQUENCE %s TO {APP}, {ACROSS}', of_before); END LOOP;
    END $$
    """,
    # To change functions of PostgreSQL's takes a superuser.
    "DO $$ BEGIN IF current_setting('is_superuser')::boolean THEN "
    + " ".join(f"{statement};" for statement in _MAKE_LEAKPROOF)
    + " END IF; END $$",
)
"""What the owner of a database executes before its migrations, as often as it likes; see BY_SUPERUSER, too."""

ENTER = f"SELECT set_config('role', %s, false), set_config('{SETTING}', %s, false)"
"""Puts a connection into a scope; parameters: `state`."""
ENTER_WITHIN_TRANSACTION = ENTER.replace("false", "true")
"""The same until the transaction ends."""


def state(scope: str) -> tuple[str, str]:
    """Return the role and the project of a connection for a value of `chassis.core.projects.current`."""
    return (ACROSS, NONE) if scope == ALL else (APP, scope)


_PROJECT = f"coalesce(current_setting('{SETTING}', true), '{MAIN}')"
"""The connection's project: MAIN for software of before there were projects, which says nothing of it."""


def default_project(*, optional: bool) -> str:
    """Return the SQL of the project of rows that name none: that of the connection.

    Where it is not `optional`, a connection outside of any project can write nothing.
    """
    return _PROJECT if optional else f"nullif({_PROJECT}, '{NONE}')"


def isolate(table: str) -> Iterator[str]:
    """Yield the SQL that lets nobody but ACROSS and the table's owner see or write rows of another project.

    A change needs a migration of what has it already.
    """
    yield f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY"
    # A query by itself is executed once, the function by itself once a row.
    yield f"CREATE POLICY of_project ON {table} USING (project_id = (SELECT current_setting('{SETTING}', true)))"
    # The owner: migrations, functions that look further, and software of before there were projects.
    yield f"CREATE POLICY across_projects ON {table} TO {ACROSS}, CURRENT_USER USING (true)"


if __name__ == "__main__":
    sys.stdout.write("".join(f"{statement};\n" for statement in BY_SUPERUSER))
