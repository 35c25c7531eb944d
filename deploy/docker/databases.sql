-- A role and a database for each service; the passwords are those of the URLs that the services read.
-- PostgreSQL's image runs this once, when its volume is empty.

\set password `cut -d: -f3 /run/secrets/auth_database_url | cut -d@ -f1`
CREATE ROLE auth_service LOGIN PASSWORD :'password';
CREATE DATABASE auth_service OWNER auth_service;
REVOKE CONNECT ON DATABASE auth_service FROM PUBLIC;

\set password `cut -d: -f3 /run/secrets/catalog_database_url | cut -d@ -f1`
CREATE ROLE catalog_service LOGIN PASSWORD :'password';
CREATE DATABASE catalog_service OWNER catalog_service;
REVOKE CONNECT ON DATABASE catalog_service FROM PUBLIC;

\set password `cut -d: -f3 /run/secrets/suggestion_database_url | cut -d@ -f1`
CREATE ROLE suggestion_service LOGIN PASSWORD :'password';
CREATE DATABASE suggestion_service OWNER suggestion_service;
REVOKE CONNECT ON DATABASE suggestion_service FROM PUBLIC;

\set password `cut -d: -f3 /run/secrets/notification_database_url | cut -d@ -f1`
CREATE ROLE notification_service LOGIN PASSWORD :'password';
CREATE DATABASE notification_service OWNER notification_service;
REVOKE CONNECT ON DATABASE notification_service FROM PUBLIC;

-- Where embeddings are kept; to install it takes a superuser.
\connect suggestion_service
CREATE EXTENSION vector;
