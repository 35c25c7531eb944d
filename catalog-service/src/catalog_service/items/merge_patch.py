"""JSON merge patch (RFC 7396)."""

from typing import Any


def merged(target: Any, patch: Any) -> Any:
    """Return `target` with `patch` applied: objects are merged, null removes a member, all else replaces."""
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = merged(result.get(name), value)
    return result
