"""Search documents that hold words as they are written, without accents, and all the texts of a test case.

The column and its index stay. It was generated, and to generate it from more columns would rewrite the table while
nobody reads it: from now on a trigger fills it. Older programs go on to search in it; of what is written from now on
they find words by that very form alone. Documents of a small record are made anew here, those of a large one by the
worker; until then they are found as before.

Readers and writers wait while it runs, some milliseconds, and a second if there are a thousand items or more.
"""

from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

_AT_ONCE = 1000


def upgrade() -> None:
    """Define how texts become words, have triggers make the documents, and begin with those that are there."""
    for statement in STATEMENTS:
        op.execute(statement)
    for table, columns in (
        ("requirements", "external_id, title, tags, description"),
        (
            "test_cases",
            "external_id, title, tags, description, steps, preconditions, postconditions, test_data",
        ),
    ):
        op.execute(f"ALTER TABLE {table} ALTER COLUMN search DROP EXPRESSION")
        op.execute(
            f"CREATE TRIGGER make_search_document BEFORE INSERT OR UPDATE OF {columns}, search ON {table}"
            f" FOR EACH ROW EXECUTE FUNCTION make_search_document_of_{table}()"
        )
        # The worker takes new index entries out of their waiting list, see search/maintenance.py: writes do not.
        op.execute(f"ALTER INDEX ix_{table}_search SET (gin_pending_list_limit = {32 * 1024})")
        op.execute(
            f"INSERT INTO search_documents_due (table_name) SELECT '{table}'"
            f" WHERE (SELECT count(*) FROM (SELECT FROM {table} LIMIT {_AT_ONCE + 1}) AS first) > {_AT_ONCE}"
        )
        op.execute(
            f"UPDATE {table} SET search = NULL"
            f" WHERE NOT EXISTS (SELECT FROM search_documents_due WHERE table_name = '{table}')"
        )
    op.execute("DROP FUNCTION search_document(text, text, text[], text)")


_CJK = r"\u3005-\u3007\u3041-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\U00020000-\U0003ffff"
"""Scripts that are written without blanks: Chinese, Japanese and, with its particles, Korean."""

_ACCENTS = r"\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0640\u064b-\u065f\u0670"

_PUNCTUATION = (
    r"\u00a1-\u00bf\u00d7\u00f7\u05be\u060c\u061b\u061f\u0964\u0965\u2000-\u206f\u2190-\u24ff\u2500-\u259f\u2900-\u2bff"
    r"\u3000-\u3004\u3008-\u3020\u3030\u30fb"
)
"""Beyond ASCII. With the locale C, PostgreSQL would take them for letters."""

STATEMENTS = (
    "CREATE TEXT SEARCH DICTIONARY search_words (TEMPLATE = pg_catalog.simple, STOPWORDS = english)",
    "CREATE TEXT SEARCH CONFIGURATION search_words (COPY = pg_catalog.simple)",
    "ALTER TEXT SEARCH CONFIGURATION search_words ALTER MAPPING REPLACE simple WITH search_words",
    # What PostgreSQL would take for addresses, paths, numbers or compounds becomes words. Each pair of neighbours
    # of a script without blanks becomes a word; where such a run begins and ends one character does, too.
    rf"""
    CREATE FUNCTION search_text(said text) RETURNS text LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
    BEGIN
        said := lower(said COLLATE pg_catalog.pg_c_utf8);
        IF octet_length(said) <> length(said) THEN
            said := regexp_replace(replace(normalize(said, NFKD), 'ß', 'ss'), '[{_ACCENTS}]', '', 'g');
            said := lower(translate(normalize(said, NFKC), 'øłđðıħς', 'olddihσ') COLLATE pg_catalog.pg_c_utf8);
            said := regexp_replace(regexp_replace(said, '[{_PUNCTUATION}]+', ' ', 'g'), '([{_CJK}]+)', ' \1 ', 'g');
            said := regexp_replace(said, '([{_CJK}])', '\1 \1', 'g');
        END IF;
        RETURN replace(replace(replace(replace(replace(replace(replace(replace(
            said, '-', ' '), '.', ' '), '/', ' '), '@', ' '), '<', ' '), '&', ' '), '+', ' '), '_', ' ');
    END
    $$
    """,
    # A tsvector holds 1 MiB at most, and a text of short, distinct words needs more room in it than as a text:
    # what comes after so many characters is kept but not searched.
    r"""
    CREATE FUNCTION search_document(external_id text, title text, tags text[], description text, more text)
    RETURNS tsvector LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
    DECLARE
        name text := concat_ws(' ', external_id, title);
        document tsvector;
    BEGIN
        IF external_id ~ '[[:alpha:]][0-9]' THEN
            name := name || ' ' || regexp_replace(external_id, '([[:alpha:]])([0-9])', '\1 \2', 'g');
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
    """
    CREATE FUNCTION make_search_document_of_requirements() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        NEW.search := search_document(NEW.external_id, NEW.title, NEW.tags, NEW.description, NULL);
        RETURN NEW;
    END
    $$
    """,
    r"""
    CREATE FUNCTION make_search_document_of_test_cases() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE
        steps text;
    BEGIN
        IF json_typeof(NEW.steps) = 'object' THEN
            steps := (SELECT string_agg(value, ' ') FROM json_each_text(NEW.steps));
        END IF;
        NEW.search := search_document(NEW.external_id, NEW.title, NEW.tags, NEW.description,
            concat_ws(' ', steps, NEW.preconditions, NEW.postconditions,
                      regexp_replace(NEW.test_data::text, '\\(u[[:xdigit:]]{4}|.)', ' ', 'g')));
        RETURN NEW;
    END
    $$
    """,
    """
    CREATE TABLE search_documents_due (
        table_name text NOT NULL,
        after uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
        CONSTRAINT pk_search_documents_due PRIMARY KEY (table_name)
    )
    """,
    "COMMENT ON TABLE search_documents_due IS 'tables of items whose search documents are made anew, in order of id'",
)
