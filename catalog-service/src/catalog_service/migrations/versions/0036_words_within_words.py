"""Search documents with words that begin within others, UserToken and Token of validateUserToken, and CAN beside can.

Those of a small record are made anew here, those of a large one by the worker.
"""

from alembic import op

revision = "0036"
down_revision = "0035"
branch_labels = None
depends_on = None

_AT_ONCE = 1000


def upgrade() -> None:
    """Define the documents anew, and have all made."""
    for statement in STATEMENTS:
        op.execute(statement)
    for table in ("requirements", "test_cases"):
        op.execute(
            f"INSERT INTO search_documents_due (table_name) SELECT '{table}'"
            f" WHERE (SELECT count(*) FROM (SELECT FROM {table} LIMIT {_AT_ONCE + 1}) AS first) > {_AT_ONCE}"
            " ON CONFLICT (table_name) DO UPDATE SET after = DEFAULT"
        )
        op.execute(
            f"UPDATE {table} SET search = NULL"
            f" WHERE NOT EXISTS (SELECT FROM search_documents_due WHERE table_name = '{table}')"
        )


STATEMENTS = (
    # Of a word in camel case what begins at each of its words: a search by beginnings then finds any part of it.
    # Words in capitals are names even where they are stop words: the CAN bus, IT.
    r"""
    CREATE FUNCTION search_parts(said text) RETURNS text LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
    DECLARE
        found text := '';
    BEGIN
        IF said !~ '[a-z][0-9]*[A-Z]|[A-Z][A-Z]' THEN
            RETURN '';
        END IF;
        IF said ~ '[a-z][0-9]*[A-Z]|[A-Z][A-Z][a-z][a-z]' THEN
            found := coalesce((
                SELECT string_agg(array_to_string(parts[place:], ''), ' ')
                FROM regexp_matches(
                         regexp_replace(said, '([a-z][0-9]*)(?=[A-Z])|([A-Z])(?=[A-Z][a-z][a-z])', E'\\1\\2\x01', 'g'),
                         '[A-Za-z0-9]+\x01[A-Za-z0-9\x01]+', 'g') AS word,
                     LATERAL (SELECT string_to_array(left(word[1], 60), E'\x01') AS parts) AS split,
                     generate_series(2, cardinality(parts)) AS place
            ), '');
        END IF;
        IF said ~ '\m[A-Z]{2,6}\M' THEN
            found := found || ' ' || coalesce((
                SELECT string_agg(word[1], ' ') FROM regexp_matches(said, '\m[A-Z]{2,6}\M', 'g') AS word
                WHERE ts_lexize('search_words', lower(word[1])) = '{}'
            ), '');
        END IF;
        RETURN lower(left(found, 20000));
    END
    $$
    """,
    r"""
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
        document := setweight(
            to_tsvector('search_words', search_text(name)) || to_tsvector('simple', search_parts(name)), 'A');
        IF tags <> '{}' THEN
            document := document || setweight(to_tsvector('search_words',
                left(search_text(left(array_to_string(tags, ' '), 10000)), 10000)), 'B');
        END IF;
        document := document || setweight(to_tsvector('search_words',
            left(search_text(left(description, 80000)), 80000)), 'C');
        IF more <> '' THEN
            document := document || to_tsvector('search_words', left(search_text(left(more, 60000)), 60000));
        END IF;
        RETURN document || to_tsvector('simple', search_parts(concat_ws(' ',
            left(array_to_string(tags, ' '), 10000), left(description, 80000), left(more, 60000))));
    END
    $$
    """,
)
