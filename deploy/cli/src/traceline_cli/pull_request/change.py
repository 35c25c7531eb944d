"""The change that a pipeline is about: its pull request, its commits, and the host that keeps its code.

Whoever opens a pull request chooses its branch, its title and what its commits say: all of that is text, and no more.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from traceline_cli import ci


class Host(Enum):
    """A kind of host, and what people call it."""

    GITHUB = "GitHub"
    GITEA = "Gitea"
    GITLAB = "GitLab"


@dataclass(frozen=True, slots=True)
class Change:
    """What the variables say; None: not known, or not there.

    `commits`: those that results may be of, the likeliest first; `head`: the one that people see; `reported`: the one
    that a status is of; `base`: where the change begins. Of GitLab `repository` is a number.
    """

    host: Host | None = None
    api: str | None = None
    page: str | None = None
    repository: str | None = None
    status_repository: str | None = None
    number: int | None = None
    source: str | None = None
    branch: str | None = None
    commits: tuple[str, ...] = ()
    head: str | None = None
    reported: str | None = None
    base: str | None = None
    title: str | None = None
    pipeline: str | None = None
    build_url: str | None = None
    is_fork: bool = False


def find_change(of: Mapping[str, str]) -> Change:
    """Return the change that the variables of CI tell of."""
    if of.get("GITHUB_ACTIONS"):
        return _github(of)
    if of.get("GITLAB_CI"):
        return _gitlab(of)
    found = ci.detect(of)
    return Change(branch=found.branch, commits=_those(found.commit), head=found.commit, build_url=found.build_url)


def _github(of: Mapping[str, str]) -> Change:
    found, event = ci.detect(of), _event(of)
    repository, server = of.get("GITHUB_REPOSITORY"), of.get("GITHUB_SERVER_URL")
    is_gitea = of.get("GITEA_ACTIONS") or of.get("FORGEJO_ACTIONS")
    pull, first = _object(event, "pull_request"), _object(event, "workflow_run")
    branch, commit, build = found.branch, found.commit, found.build_url
    head, owner = commit, None
    if pull:
        owner, head = _text(pull, "head", "repo", "full_name"), _text(pull, "head", "sha") or commit
        if of.get("GITHUB_EVENT_NAME") == "pull_request_target":
            commit = head  # the variable has that of the branch which it goes to
    elif first:
        # A second workflow, which may write: its own variables are of the default branch.
        owner, head = _text(first, "head_repository", "full_name"), _text(first, "head_sha")
        name = _text(first, "head_branch")
        branch = f"{owner}:{name}" if owner and owner != repository and name else name
        commit, build = head, _text(first, "html_url") or build
    numbers = [_number(one) for one in ([pull] if pull else first.get("pull_requests") or [])]
    return Change(
        host=Host.GITEA if is_gitea else Host.GITHUB,
        api=of.get("GITHUB_API_URL"),
        page=f"{server}/{repository}" if server and repository else None,
        repository=repository,
        status_repository=repository,
        number=next(iter(numbers), None),
        source=None if not first else _source(owner, _text(first, "head_branch")),
        branch=branch,
        commits=_those(commit, head),
        head=head,
        reported=head,
        base=_text(pull, "base", "sha"),
        title=_text(pull, "title") or _text(first, "display_title"),
        build_url=build,
        is_fork=owner is not None and owner != repository,
    )


def _gitlab(of: Mapping[str, str]) -> Change:
    found = ci.detect(of)
    source, target = (of.get(f"CI_MERGE_REQUEST_{which}PROJECT_PATH") for which in ("SOURCE_", ""))
    number = of.get("CI_MERGE_REQUEST_IID", "")
    # Of a pipeline of merged results, what runs is a merge; its pipeline is that commit's.
    head = of.get("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA") or found.commit
    return Change(
        host=Host.GITLAB,
        api=of.get("CI_API_V4_URL"),
        page=of.get("CI_PROJECT_URL"),
        repository=of.get("CI_MERGE_REQUEST_PROJECT_ID") or of.get("CI_PROJECT_ID"),
        status_repository=of.get("CI_PROJECT_ID"),
        number=int(number) if number.isdecimal() else None,
        branch=found.branch,
        commits=_those(found.commit, head),
        head=head,
        reported=found.commit,
        base=of.get("CI_MERGE_REQUEST_DIFF_BASE_SHA"),
        title=of.get("CI_MERGE_REQUEST_TITLE"),
        pipeline=of.get("CI_PIPELINE_ID"),
        build_url=found.build_url,
        is_fork=bool(source and target and source != target),
    )


def _source(owner: str | None, branch: str | None) -> str | None:
    """Return what a pull request is found by: `owner:branch`."""
    return f"{owner.partition('/')[0]}:{branch}" if owner and branch else None


def _those(*commits: str | None) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, commits)))


def _event(of: Mapping[str, str]) -> dict[str, Any]:
    with suppress(OSError, ValueError, RecursionError):
        event = json.loads(Path(of["GITHUB_EVENT_PATH"]).read_bytes()) if of.get("GITHUB_EVENT_PATH") else {}
        if isinstance(event, dict):
            return event
    return {}


def _object(of: Any, name: str) -> dict[str, Any]:
    found = of.get(name) if isinstance(of, dict) else None
    return found if isinstance(found, dict) else {}


def _text(of: dict[str, Any], *names: str) -> str | None:
    for name in names[:-1]:
        of = _object(of, name)
    found = of.get(names[-1])
    return found if isinstance(found, str) and found else None


def _number(of: Any) -> int | None:
    found = of.get("number") if isinstance(of, dict) else None
    return found if isinstance(found, int) else None
