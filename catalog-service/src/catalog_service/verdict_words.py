"""How verdicts are told to people, by who reads a database and by who does not."""

from collections.abc import Mapping
from typing import Any


def tell_older_test(row: Mapping[str, Any]) -> str:
    """Return of which commit the result of a test is that stands for the one that is asked for."""
    name = ".".join(filter(None, (row["class_name"], row["name"])))
    of = f"commit {row['commit']}" if row["commit"] else "a run without a commit"
    at = f"{row['last_run_at']:%Y-%m-%d %H:%M}"
    return f"{row['test_case'] or row['test_case_id']}: {name} of {row['lane']} is {row['last_result']} by {of}, {at}."
