"""Numbers of identifiers with the letters behind them, without the zeros before: 42a of REQ_0042a.

Search documents of a few hundred such items are made anew here, those of more by the worker.
"""

from alembic import op

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None

_AT_ONCE = 1000
_CONCERNED = "external_id ~ '[0-9][[:alpha:]]'"


def upgrade() -> None:
    """Define the documents anew, and have those that it concerns made."""
    op.execute(DOCUMENT)
    for table in ("requirements", "test_cases"):
        concerned = f"SELECT id FROM {table} WHERE {_CONCERNED}"
        op.execute(
            f"INSERT INTO search_documents_due (table_name) SELECT '{table}'"
            f" WHERE (SELECT count(*) FROM ({concerned} LIMIT {_AT_ONCE + 1}) AS first) > {_AT_ONCE}"
            " ON CONFLICT (table_name) DO UPDATE SET after = DEFAULT"
        )
        op.execute(
            f"UPDATE {table} SET search = NULL WHERE id IN ({concerned})"
            f" AND NOT EXISTS (SELECT FROM search_documents_due WHERE table_name = '{table}')"
        )


DOCUMENT = r"""
    CREATE OR REPLACE FUNCTION search_document(
        external_id text, title text, tags text[], description text, more text
    ) RETURNS tsvector LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
    DECLARE
        name text := concat_ws(' ', external_id, title);
        apart text;
        document tsvector;
    BEGIN
        IF external_id ~ '[0-9]' THEN
            apart := regexp_replace(external_id, '([[:alpha:]])(?=[0-9])|([0-9])(?=[[:alpha:]])', '\1\2 ', 'g');
            IF apart <> external_id THEN
                name := name || ' ' || apart;
            END IF;
            IF apart ~ '0[1-9]' THEN
                name := name || ' ' || regexp_replace(apart, '(?<![0-9])0+(?=[1-9])', '', 'g');
            END IF;
            IF external_id ~ '[0-9][[:alpha:]]' THEN
                name := name || ' ' || regexp_replace(
                    external_id, '([[:alpha:]])(?=[0-9])|(?<![0-9])0+(?=[1-9])', '\1 ', 'g');
            END IF;
        END IF;
        document := setweight(to_tsvector('search_words', search_text(name)), 'A');
        IF tags <> '{}' THEN
            document := document || setweight(to_tsvector('search_words',
                left(search_text(left(array_to_string(tags, ' '), 10000)), 10000)), 'B');
        END IF;
        document := document || setweight(to_tsvector('search_words',
            left(search_text(left(description, 80000)), 80000)), 'C');
        IF more <> '' THEN
            document := document || to_tsvector('search_words', left(search_text(left(more, 60000)), 60000));
        END IF;
        RETURN document;
    END
    $$
"""
