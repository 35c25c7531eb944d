"""GitLab."""

from collections.abc import Callable, Mapping
from urllib.parse import quote

from traceline_cli.deadline import Deadline
from traceline_cli.failures import Exit, Failure
from traceline_cli.pull_request.change import Change
from traceline_cli.pull_request.hosts import CONTEXT, MARK, HostApi, keep_one

_MOST_DESCRIPTION = 255
_TOKEN = "Set GITLAB_TOKEN to a project access token with the scope api and the role Developer, masked."  # noqa: S105
_NO_JOB_TOKEN = f"GitLab's job token may write neither notes nor statuses. {_TOKEN}"


class GitLab:
    """A project, as a token of its own."""

    def __init__(
        self, change: Change, variables: Mapping[str, str], *, deadline: Deadline, say: Callable[[str], None]
    ) -> None:
        token = variables.get("GITLAB_TOKEN", "").strip()
        if not token:
            forks = " Variables of a project do not reach pipelines of forks." if change.is_fork else ""
            raise Failure(Exit.UNREACHABLE, f"There is no GITLAB_TOKEN. {_NO_JOB_TOKEN}{forks}")
        if not change.repository or not change.status_repository or not change.api:
            raise Failure(Exit.WRONG_USE, "CI_PROJECT_ID and CI_API_V4_URL say where the code is; set them.")
        self._project = f"/projects/{quote(change.repository, safe='')}"
        self._of_statuses = f"/projects/{quote(change.status_repository, safe='')}"
        self._pipeline = change.pipeline
        headers = {"PRIVATE-TOKEN": token}
        self._api = HostApi("GitLab", change.api, headers, deadline=deadline, say=say, explain=self._explain)

    def keep_comment(self, number: int, project: str, body: str) -> str:
        """See CodeHost.keep_comment."""
        us = self._api.content(self._api.call("GET", "/user"), dict).get("id")
        return keep_one(
            self._api,
            f"{self._project}/merge_requests/{number}/notes",
            lambda note: us is not None and (note.get("author") or {}).get("id") == us and not note.get("system"),
            MARK.format(project),
            body,
            edit_by="PUT",
            sort="asc",
            order_by="created_at",
        )

    def set_status(self, commit: str, *, passed: bool, description: str, address: str | None) -> str:
        """See CodeHost.set_status."""
        body = {
            "state": "success" if passed else "failed",
            "name": CONTEXT,
            "description": description[:_MOST_DESCRIPTION],
            **({"target_url": address} if address else {}),
            # Without it, the status would be of the newest pipeline of the commit, which may be another.
            **({"pipeline_id": int(self._pipeline)} if self._pipeline and self._pipeline.isdecimal() else {}),
        }
        path = f"{self._of_statuses}/statuses/{quote(commit, safe='')}"
        self._api.content(self._api.call("POST", path, json=body), dict)
        return str(body["state"])

    def find_change(self, source: str, commit: str) -> int | None:
        """See CodeHost.find_change; a pipeline of a merge request says which it is."""
        return None

    def _explain(self, status: int, path: str) -> str:
        """Return what a status means, and what to do about it."""
        match status:
            case 401:
                return f"GitLab does not know the token in GITLAB_TOKEN, or it has ended. {_NO_JOB_TOKEN}"
            case 403:
                return f"The token in GITLAB_TOKEN may not write here. {_TOKEN}"
            case 404:
                return f"GitLab has no {path}, or the token may not see it. {_TOKEN}"
            case 400 | 422:
                return f"GitLab refuses {path}."
            case _:
                return f"GitLab answers {status} at {path}; try it again later."
