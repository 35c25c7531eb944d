"""GitHub, and Gitea and Forgejo, whose API is the same where we call it."""

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

from traceline_cli.deadline import Deadline
from traceline_cli.failures import Exit, Failure
from traceline_cli.pull_request.change import Change, Host
from traceline_cli.pull_request.hosts import CONTEXT, MARK, HostApi, keep_one

_MOST_DESCRIPTION = 140
_BOTS = {
    Host.GITHUB: frozenset({"github-actions[bot]"}),
    Host.GITEA: frozenset({"gitea-actions", "forgejo-actions"}),
}
"""Whom the token of a job is of, which may not ask who it is."""
_FORKS = "A pull request of a fork has no right to write and no secrets: README, Forks, shows the form in two steps."


class GitHub:
    """A repository, as the token of a job or of an account."""

    def __init__(
        self,
        change: Change,
        variables: Mapping[str, str],
        *,
        author: str | None,
        deadline: Deadline,
        say: Callable[[str], None],
    ) -> None:
        """`author` is the account that comments are by, where the token may not ask and is none of a job."""
        assert change.host is not None, "there is one"
        name = change.host.value
        token = (variables.get("GITHUB_TOKEN") or variables.get("GH_TOKEN") or "").strip()
        if not token:
            way_out = _FORKS if change.is_fork else "Write `env: GITHUB_TOKEN: ${{ github.token }}` in the step."
            raise Failure(Exit.UNREACHABLE, f"There is no GITHUB_TOKEN, without which {name} cannot be told. {way_out}")
        if not change.repository or not change.api:
            raise Failure(Exit.WRONG_USE, "GITHUB_REPOSITORY and GITHUB_API_URL say where the code is; set them.")
        self._is_fork = change.is_fork
        self._bots = frozenset({author}) if author else _BOTS[change.host]
        self._repository = f"/repos/{quote(change.repository)}"
        headers = {"Authorization": f"Bearer {token}", "X-GitHub-Api-Version": "2022-11-28"}
        self._api = HostApi(name, change.api, headers, deadline=deadline, say=say, explain=self._explain)

    def keep_comment(self, number: int, project: str, body: str) -> str:
        """See CodeHost.keep_comment."""
        issues = f"{self._repository}/issues"
        return keep_one(
            self._api,
            f"{issues}/{number}/comments",
            self._who_we_are(),
            MARK.format(project),
            body,
            each=f"{issues}/comments",
        )

    def set_status(self, commit: str, *, passed: bool, description: str, address: str | None) -> str:
        """See CodeHost.set_status."""
        body = {
            "state": "success" if passed else "failure",
            "context": CONTEXT,
            "description": description[:_MOST_DESCRIPTION],
            **({"target_url": address} if address else {}),
        }
        path = f"{self._repository}/statuses/{quote(commit, safe='')}"
        self._api.content(self._api.call("POST", path, json=body), dict)
        return body["state"]

    def find_change(self, source: str, commit: str) -> int | None:
        """See CodeHost.find_change."""
        query = {"state": "open", "head": source, "per_page": 100}
        found = self._api.content(self._api.call("GET", f"{self._repository}/pulls", params=query), list)
        for one in found:
            if isinstance(one, dict) and (one.get("head") or {}).get("sha") == commit:
                return int(one["number"])
        return None

    def _who_we_are(self) -> Callable[[dict[str, Any]], bool]:
        """Return what tells our comments from others'."""
        response = self._api.call("GET", "/user", allow=(403, 404))
        if response.status_code == 200:
            us = self._api.content(response, dict).get("id")
            return lambda comment: us is not None and (comment.get("user") or {}).get("id") == us
        return lambda comment: (comment.get("user") or {}).get("login") in self._bots

    def _explain(self, status: int, path: str) -> str:
        """Return what a status means, and what to do about it."""
        name = self._api.name
        what = "statuses" if "/statuses/" in path else "pull-requests"
        match status:
            case 401:
                return f"{name} does not know the token in GITHUB_TOKEN, or it has ended; set another."
            case 403 if self._is_fork:
                return f"The token in GITHUB_TOKEN may not write here. {_FORKS}"
            case 403:
                return f"The token in GITHUB_TOKEN may not write here: give the job `permissions: {{{what}: write}}`."
            case 404:
                return (
                    f"{name} has no {path}, or the token may not see it: is the number right,"
                    f" and has the job `permissions: {{{what}: write}}`?"
                )
            case 410 | 422:
                return f"{name} refuses {path}: is it locked, or the commit none of this repository?"
            case _:
                return f"{name} answers {status} at {path}; try it again later."
