"""Names go from audit entries of erased people wherever they stand for them, and no longer as whole values alone."""

from alembic import op

from chassis.db.isolation import ACROSS

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

_TYPES = {
    **dict.fromkeys(("actor", "resource_id", "resource_title", "summary"), "text"),
    **dict.fromkeys(("before", "after", "details"), "json"),
    "resource_ids": "text[]",
}


def upgrade() -> None:
    """Make the function, beside that of before, which software of before calls."""
    for statement in STATEMENTS:
        op.execute(statement)


def _cleaned(column: str, type_: str) -> str:
    text = f"regexp_replace(regexp_replace(e.{column}::text, pattern, pseudonym, 'gi'), names, nobody, 'g')"
    return f"{column} = {text}::{type_}"


STATEMENTS = (
    # `pattern` is that of an address, `names` that of what the person was called: both are regular expressions.
    f"""
    CREATE FUNCTION erase_from_audit_entries(pattern text, pseudonym text, names text, nobody text)
    RETURNS TABLE (entry_id bigint, entry_project text)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = public AS $$
    BEGIN
        PERFORM pg_advisory_xact_lock(hashtext('audit seals'));
        RETURN QUERY UPDATE audit_entries e SET {", ".join(_cleaned(*column) for column in _TYPES.items())}
        WHERE concat_ws(' ', e.actor, e.resource_title, e.summary, e.resource_id, e.before, e.after, e.details,
            e.resource_ids) ~* pattern
        RETURNING e.id, e.project_id;
    END
    $$
    """,
    "REVOKE EXECUTE ON FUNCTION erase_from_audit_entries(text, text, text, text) FROM PUBLIC",
    f"GRANT EXECUTE ON FUNCTION erase_from_audit_entries(text, text, text, text) TO {ACROSS}",
)
