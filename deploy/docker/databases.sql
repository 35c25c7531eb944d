-- A database for each service, and two roles: one owns its tables and migrates them, one runs the service and may
-- read and write rows, those of one project at a time. Names and passwords are those of the URLs that programs read.
-- PostgreSQL's image runs this once, when its volume is empty.

\set runs `cat /run/secrets/*_database_url`
\set migrates `cat /run/secrets/*_migrations_url`
CREATE TEMPORARY TABLE roles AS
SELECT role[1] AS name, role[2] AS password, role[3] AS database, is_owner
FROM (VALUES (:'migrates', true), (:'runs', false)) AS given (urls, is_owner),
    regexp_matches(urls, '//(\w+):([^@]+)@[^/]+/([a-z]+_service)', 'g') AS role;

CREATE ROLE traceline_app NOLOGIN;
CREATE ROLE traceline_across NOLOGIN;
SELECT format('CREATE ROLE %I LOGIN PASSWORD %L', name, password) FROM roles WHERE is_owner \gexec
-- What a program may see it says by taking one of the two roles: it has nothing of them by itself.
SELECT format('CREATE ROLE %I LOGIN NOINHERIT PASSWORD %L IN ROLE traceline_app, traceline_across', name, password)
FROM roles WHERE NOT is_owner \gexec
SELECT format('CREATE DATABASE %I OWNER %I', database, name) FROM roles WHERE is_owner \gexec
SELECT format('REVOKE ALL ON DATABASE %I FROM PUBLIC', database) FROM roles WHERE is_owner \gexec
SELECT format('GRANT CONNECT ON DATABASE %I TO %I', database, name) FROM roles \gexec

-- In each of them; psql goes from one to the next only by a file.
\pset format unaligned
\pset tuples_only on
\o /tmp/isolate_each.sql
SELECT format(E'\\connect %I\n\\i /etc/traceline/isolation.sql', database) FROM roles WHERE is_owner;
\o
\i /tmp/isolate_each.sql

\connect suggestion_service
-- Where embeddings are kept; to install it takes a superuser.
CREATE EXTENSION vector;
