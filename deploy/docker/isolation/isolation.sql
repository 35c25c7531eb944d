-- What a superuser does in each database before its first migration: python -m chassis.db.isolation

DO $$ BEGIN IF to_regrole('traceline_app') IS NULL THEN CREATE ROLE traceline_app NOLOGIN; END IF; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$;
DO $$ BEGIN IF to_regrole('traceline_across') IS NULL THEN CREATE ROLE traceline_across NOLOGIN; END IF; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$;
DO $$ BEGIN EXECUTE format('GRANT traceline_app, traceline_across TO %s', (SELECT datdba::regrole FROM pg_database WHERE datname = current_database())); END $$;
ALTER FUNCTION pg_catalog.lower(text) LEAKPROOF;
ALTER FUNCTION pg_catalog.ts_match_vq(tsvector, tsquery) LEAKPROOF;
ALTER FUNCTION pg_catalog.arrayoverlap(anyarray, anyarray) LEAKPROOF;
ALTER FUNCTION pg_catalog.arraycontains(anyarray, anyarray) LEAKPROOF;
ALTER FUNCTION pg_catalog.arraycontained(anyarray, anyarray) LEAKPROOF;
ALTER FUNCTION pg_catalog.textlike(text, text) LEAKPROOF;
ALTER FUNCTION pg_catalog.texticlike(text, text) LEAKPROOF;
ALTER FUNCTION pg_catalog.array_position(anycompatiblearray, anycompatible) LEAKPROOF;
ALTER FUNCTION pg_catalog.text_pattern_ge(text, text) LEAKPROOF;
ALTER FUNCTION pg_catalog.text_pattern_lt(text, text) LEAKPROOF;
ALTER FUNCTION pg_catalog.starts_with(text, text) LEAKPROOF;
