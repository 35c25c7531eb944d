#!/bin/sh
# Back up a Traceline that may be at work: `deploy/backup.sh FOLDER` makes FOLDER with a dump a service.
#
# Needs a superuser: PGHOST, PGPORT, PGUSER and PGPASSFILE say where and who. A pg_dump of the server's version or a
# newer one is looked for: in PATH, where Debian has them, and in the wheel of .venv. PG_RUN is put before pg_dump
# instead, to run it elsewhere:
#   PG_RUN='docker compose --file deploy/docker/compose.yaml exec -T postgres' deploy/backup.sh FOLDER
set -eu
umask 077 # the private signing keys are in it
folder=${1:?say which folder is to be made: deploy/backup.sh FOLDER}
if [ -e "$folder" ]; then
    echo "$folder is there already and stays as it is." >&2
    exit 1
fi
here=$(dirname "$0")
. "$here/postgresql_client.sh"
client=pg_dump
if [ -z "${PG_RUN:-}" ]; then
    client=$(client_of pg_dump --schema-only auth_service)
fi
unfinished=$folder.unfinished
mkdir -p -- "$(dirname -- "$folder")"
mkdir -- "$unfinished"
trap 'rm -rf "$unfinished"' EXIT
# Readers of events come before those who publish them: so no reader has an event that a feed does not have.
backwards=
for service in $services; do backwards="$service $backwards"; done
for service in $backwards; do
    ${PG_RUN:-} "$client" --format=custom "${service}_service" > "$unfinished/$service.dump"
done
mv "$unfinished" "$folder"
