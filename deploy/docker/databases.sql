-- A role and a database for each service, as the URLs say that the services read.
-- PostgreSQL's image runs this once, when its volume is empty.

\set urls `cat /run/secrets/*_database_url`
CREATE TEMPORARY TABLE services AS
SELECT url[1] AS name, url[2] AS password FROM regexp_matches(:'urls', '//(\w+):([^@]+)@', 'g') AS url;

SELECT format('CREATE ROLE %I LOGIN PASSWORD %L', name, password) FROM services \gexec
SELECT format('CREATE DATABASE %I OWNER %1$I', name) FROM services \gexec
SELECT format('REVOKE CONNECT ON DATABASE %I FROM PUBLIC', name) FROM services \gexec

-- Where embeddings are kept; to install it takes a superuser.
\connect suggestion_service
CREATE EXTENSION vector;
