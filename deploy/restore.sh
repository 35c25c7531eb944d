#!/bin/sh
# Bring the databases of all services to what a backup says: `deploy/restore.sh FOLDER`, as deploy/backup.sh made it.
#
# What is in them now is lost. No program of Traceline may run (the databases are then in use, and nothing is done);
# RabbitMQ has to be empty when they start again. Where the server is is said as for deploy/backup.sh; the services'
# roles are there already.
set -eu
folder=${1:?say which backup is to be restored: deploy/restore.sh FOLDER}
here=$(dirname "$0")
. "$here/postgresql_client.sh"
for service in $services; do
    if [ ! -s "$folder/$service.dump" ]; then
        echo "$folder is no whole backup: $service.dump is missing. Nothing was done." >&2
        exit 1
    fi
done
client=pg_restore
psql=psql
if [ -z "${PG_RUN:-}" ]; then
    client=$(client_of pg_restore --list "$folder/auth.dump")
    psql=$(client_of psql --version)
fi
# Dumps hold no roles: the policies that keep projects apart name two.
for role in traceline_app traceline_across; do
    echo "SELECT 'CREATE ROLE $role NOLOGIN' WHERE to_regrole('$role') IS NULL \\gexec"
done | ${PG_RUN:-} "$psql" --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --dbname=postgres
for service in $services; do
    ${PG_RUN:-} "$client" --create --clean --if-exists --exit-on-error --dbname=postgres < "$folder/$service.dump"
done
