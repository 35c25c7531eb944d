"""Tags of any length, and what more of identifiers and letters is searched for.

An index holds no entry of more than 2.7 kB: a longer tag that could not be compressed could not be stored. Tags are
found by their beginnings from now on, and compared as a whole then.

Search documents get the parts of an external_id where letters and digits meet, its numbers without the zeros before
them, and ae, oe and th for æ, œ and þ. Those of a small record are made anew here, those of a large one by the worker.

Writers wait while it runs, about a second each 100,000 items.
"""

from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

_AT_ONCE = 1000


def upgrade() -> None:
    """Put the new indexes in the place of the old, and have the documents made anew."""
    for statement in STATEMENTS:
        op.execute(statement)
    for table in ("requirements", "test_cases"):
        op.execute(f"CREATE INDEX ix_{table}_tag_keys ON {table} USING gin (tag_keys(tags))")
        op.execute(
            f"INSERT INTO search_documents_due (table_name) SELECT '{table}'"
            f" WHERE (SELECT count(*) FROM (SELECT FROM {table} LIMIT {_AT_ONCE + 1}) AS first) > {_AT_ONCE}"
            " ON CONFLICT (table_name) DO UPDATE SET after = DEFAULT"
        )
        op.execute(
            f"UPDATE {table} SET search = NULL"
            f" WHERE NOT EXISTS (SELECT FROM search_documents_due WHERE table_name = '{table}')"
        )
    # Last: readers wait for it, too.
    for table in ("requirements", "test_cases"):
        op.execute(f"DROP INDEX ix_{table}_tags")


_CJK = r"\u3005-\u3007\u3041-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\U00020000-\U0003ffff"
_ACCENTS = r"\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0640\u064b-\u065f\u0670"
_PUNCTUATION = (
    r"\u00a1-\u00bf\u00d7\u00f7\u05be\u060c\u061b\u061f\u0964\u0965\u2000-\u206f\u2190-\u24ff\u2500-\u259f\u2900-\u2bff"
    r"\u3000-\u3004\u3008-\u3020\u3030\u30fb"
)
"""As in 0009."""

STATEMENTS = (
    # 500 characters of UTF-8 are 2,000 bytes at most; nearly always the tags are their own keys.
    """
    CREATE FUNCTION tag_keys(tags text[]) RETURNS text[] LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
    BEGIN
        IF octet_length(array_to_string(tags, '')) <= 2000 THEN
            RETURN tags;
        END IF;
        RETURN ARRAY(SELECT left(tag, 500) FROM unnest(tags) AS tag);
    END
    $$
    """,
    rf"""
    CREATE OR REPLACE FUNCTION search_text(said text) RETURNS text LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
    BEGIN
        said := lower(said COLLATE pg_catalog.pg_c_utf8);
        IF octet_length(said) <> length(said) THEN
            said := regexp_replace(replace(normalize(said, NFKD), 'ß', 'ss'), '[{_ACCENTS}]', '', 'g');
            said := lower(translate(normalize(said, NFKC), 'øłđðıħς', 'olddihσ') COLLATE pg_catalog.pg_c_utf8);
            said := replace(replace(replace(said, 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th');
            said := regexp_replace(regexp_replace(said, '[{_PUNCTUATION}]+', ' ', 'g'), '([{_CJK}]+)', ' \1 ', 'g');
            said := regexp_replace(said, '([{_CJK}])', '\1 \1', 'g');
        END IF;
        RETURN replace(replace(replace(replace(replace(replace(replace(replace(
            said, '-', ' '), '.', ' '), '/', ' '), '@', ' '), '<', ' '), '&', ' '), '+', ' '), '_', ' ');
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
    """,
)
