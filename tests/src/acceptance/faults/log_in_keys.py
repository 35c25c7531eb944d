"""The command of the runbook that changes the key which signs log-ins."""

import os
import subprocess
import sys

from acceptance.stack import RunningStack


def rotate(stack: RunningStack, *arguments: str) -> None:
    """Run `python -m auth_service.rotate_keys` beside the auth-service of a stack."""
    done = subprocess.run(
        [sys.executable, "-m", "auth_service.rotate_keys", *arguments],
        env={**os.environ, "DATABASE_URL": stack.database_url("auth-service")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
