"""`python -m chassis.admin`."""

import click

from chassis.admin.audit_command import verify_audit
from chassis.admin.feed_commands import feed, replay, reread
from chassis.admin.parked_commands import parked_commands
from chassis.admin.rebuild_command import rebuild_copy


@click.group()
def admin() -> None:
    """Look after the messages of one service.

    DATABASE_URL says which: the database of that service. What is read from other services needs their addresses
    (CATALOG_URL, ...) and the service's INTERNAL_SIGNING_KEY. Each setting may be a file in the folder SECRETS_DIR.
    """


for command in (parked_commands, feed, replay, reread, rebuild_copy, verify_audit):
    admin.add_command(command)

if __name__ == "__main__":
    admin(prog_name="python -m chassis.admin")
