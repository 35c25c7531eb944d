"""What a page has that people with disabilities stumble over, as axe-core finds it: all of its rules, none left out."""

from functools import cache
from pathlib import Path
from typing import Any

_PROGRAM = Path(__file__).parents[2] / "gateway/frontend/node_modules/axe-core/axe.min.js"
_RUN = "axe.run(document, {resultTypes: ['violations']}).then(found => found.violations)"


def violations(page: Any) -> list[str]:
    """Return what axe finds in a tab as it is now, a line each: the rule, what it asks for, and where."""
    page.evaluate(_program())  # which the policy of the page does not hold back, other than a script element
    return [
        f"{found['id']}: {found['help']}: {', '.join(str(node['target']) for node in found['nodes'])}"
        for found in page.evaluate(_RUN)
    ]


@cache
def _program() -> str:
    return _PROGRAM.read_text("utf-8")
