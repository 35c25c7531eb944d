"""Make github.json of what GitHub publishes: `make code-hosts`. It holds the operations that we call, and no others.

Of `@octokit/openapi` the operations with all that their requests and answers refer to, of `@octokit/fixtures` what was
recorded of a status and of a refusal; both have the licence MIT.
"""

import json
import sys
from pathlib import Path
from typing import Any

OPERATIONS = {
    "/user": ["get"],
    "/repos/{owner}/{repo}/issues/{issue_number}/comments": ["get", "post"],
    "/repos/{owner}/{repo}/issues/comments/{comment_id}": ["patch", "delete"],
    "/repos/{owner}/{repo}/statuses/{sha}": ["post"],
    "/repos/{owner}/{repo}/pulls": ["get"],
}
SCENARIOS = ("create-status", "errors")
_NOT_NEEDED = ("description", "summary", "externalDocs", "x-github", "tags")


def main(packages: Path, target: Path) -> None:
    """Write the extract of the packages below a folder."""
    openapi = packages / "@octokit" / "openapi"
    whole = json.loads((openapi / "generated" / "api.github.com.json").read_bytes())
    paths = {path: {method: whole["paths"][path][method] for method in methods} for path, methods in OPERATIONS.items()}
    components: dict[str, dict[str, Any]] = {}
    waiting: list[Any] = [paths]
    while waiting:
        for kind, name in _references(waiting.pop()):
            if name not in components.setdefault(kind, {}):
                components[kind][name] = whole["components"][kind][name]
                waiting.append(components[kind][name])
    versions = {
        name: json.loads((packages / name / "package.json").read_bytes())["version"]
        for name in ("@octokit/openapi", "@octokit/fixtures")
    }
    scenarios = packages / "@octokit" / "fixtures" / "scenarios" / "api.github.com"
    recorded = [
        {name: one[name] for name in ("method", "path", "body", "status", "response")}
        for scenario in SCENARIOS
        for one in json.loads((scenarios / scenario / "normalized-fixture.json").read_bytes())
        if one["method"] == "post"
    ]
    extract = {
        "made_of": versions,
        "openapi": whole["openapi"],
        "info": whole["info"],
        "paths": _shortened(paths),
        "components": _shortened(components),
        "recorded": recorded,
    }
    target.write_text(json.dumps(extract, indent=1, ensure_ascii=False, sort_keys=True) + "\n")


def _references(of: Any) -> list[tuple[str, str]]:
    if isinstance(of, list):
        return [one for part in of for one in _references(part)]
    if not isinstance(of, dict):
        return []
    found = [one for part in of.values() for one in _references(part)]
    if isinstance(of.get("$ref"), str):
        kind, name = of["$ref"].removeprefix("#/components/").split("/", 1)
        found.append((kind, name))
    return found


def _shortened(of: Any, inside: str = "") -> Any:
    """Return a part of the document without what is for readers alone."""
    if isinstance(of, list):
        return [_shortened(one, inside) for one in of]
    if not isinstance(of, dict):
        return of
    if inside in {"properties", "examples", "value", "example"}:
        return {name: _shortened(value, "" if inside == "properties" else inside) for name, value in of.items()}
    return {name: _shortened(value, name) for name, value in of.items() if name not in _NOT_NEEDED}


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
