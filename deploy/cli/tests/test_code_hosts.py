"""Comments and statuses at a host that takes the requests of its published document alone."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from testing.code_hosts import FOLDER, Answer, Asked, GitHub, GitLab
from traceline_cli.deadline import Deadline
from traceline_cli.failures import Exit, Failure
from traceline_cli.pull_request import github, gitlab
from traceline_cli.pull_request.change import Change, Host
from traceline_cli.pull_request.hosts import MARK

SHA = "8f14d3b710ccac3d65234f8d69cd4586a017a156"
MAIN = MARK.format("MAIN")
HTML = "<!DOCTYPE html><html><body>Sign in</body></html>"


@pytest.fixture
def on_github() -> Iterator[GitHub]:
    with GitHub() as host:
        yield host
        assert host.wrong == []


@pytest.fixture
def on_gitlab() -> Iterator[GitLab]:
    with GitLab() as host:
        yield host
        assert host.wrong == []


def as_job(host: GitHub, kind: Host = Host.GITHUB, *, within: float = 30, **more: Any) -> github.GitHub:
    author = more.pop("author", None)
    change = Change(host=kind, api=host.url, repository="acme/doors", **more)
    token = {"GITHUB_TOKEN": "ghs_0"}
    return github.GitHub(change, token, author=author, deadline=Deadline(within), say=lambda _: None)


def as_project(host: GitLab, *, within: float = 30, **more: Any) -> gitlab.GitLab:
    change = Change(host=Host.GITLAB, api=host.url, repository="7", status_repository="9", **more)
    return gitlab.GitLab(change, {"GITLAB_TOKEN": "glpat-0"}, deadline=Deadline(within), say=lambda _: None)


def bodies(host: GitHub | GitLab) -> list[str]:
    return [one["body"] for one in host.comments]


def test_a_comment_is_written_once_and_then_edited(on_github: GitHub, on_gitlab: GitLab) -> None:
    for host, client in ((on_github, as_job(on_github)), (on_gitlab, as_project(on_gitlab))):
        host.add_comment("Nice.", "alice", 1)
        assert [client.keep_comment(7, "MAIN", text) for text in ("first", "second", "third")] == [
            *("written", "edited", "edited")
        ]
        assert bodies(host) == ["Nice.", f"{MAIN}\nthird"]


def test_a_mark_that_somebody_forged_is_left_alone(on_github: GitHub, on_gitlab: GitLab) -> None:
    for host, client in ((on_github, as_job(on_github)), (on_gitlab, as_project(on_gitlab))):
        forged = f"{MAIN}\nThe gate passes."
        host.add_comment(forged, "mallory", 666)
        # A comment of ours in which somebody is quoted.
        host.add_comment(f"> {MAIN}")
        client.keep_comment(7, "MAIN", "ours")
        client.keep_comment(7, "MAIN", "ours again")
        assert bodies(host) == [forged, f"> {MAIN}", f"{MAIN}\nours again"]


def test_each_project_has_a_comment_of_its_own(on_github: GitHub) -> None:
    client = as_job(on_github)
    for project in ("MAIN", "DOORS", "MAIN"):
        client.keep_comment(7, project, "text")
    assert bodies(on_github) == [f"{MAIN}\ntext", f"{MARK.format('DOORS')}\ntext"]


def test_our_comment_is_found_behind_hundreds_of_others(on_github: GitHub, on_gitlab: GitLab) -> None:
    for host, client in ((on_github, as_job(on_github)), (on_gitlab, as_project(on_gitlab))):
        for number in range(250):
            host.add_comment(f"{number}", "alice", 1)
        host.add_comment(f"{MAIN}\nold")
        assert client.keep_comment(7, "MAIN", "new") == "edited"
        assert len(host.comments) == 251
        assert bodies(host)[-1] == f"{MAIN}\nnew"


@pytest.mark.parametrize("how_many", [2, 3])
def test_two_jobs_at_once_leave_one_comment(on_github: GitHub, on_gitlab: GitLab, how_many: int) -> None:
    for host, client in ((on_github, as_job(on_github)), (on_gitlab, as_project(on_gitlab))):

        def meanwhile(asked: Asked, host: GitHub | GitLab = host) -> None:
            if asked.method == "POST":
                host.instead = lambda _: None
                for _ in range(how_many - 1):
                    host.add_comment(f"{MAIN}\nof another job")

        host.instead = meanwhile
        client.keep_comment(7, "MAIN", "ours")
        assert bodies(host) == [f"{MAIN}\nours"]


@pytest.mark.parametrize("kind", [Host.GITHUB, Host.GITEA])
def test_comments_are_of_whom_the_token_is(on_github: GitHub, kind: Host) -> None:
    on_github.us = {"login": "release-bot", "id": 5}
    on_github.add_comment(f"{MAIN}\nof a job")
    as_job(on_github, kind).keep_comment(7, "MAIN", "ours")
    as_job(on_github, kind).keep_comment(7, "MAIN", "again")
    assert bodies(on_github) == [f"{MAIN}\nof a job", f"{MAIN}\nagain"]
    on_github.us = None
    on_github.add_comment(f"{MAIN}\nold", "doors-app[bot]", 9)
    as_job(on_github, kind, author="doors-app[bot]").keep_comment(7, "MAIN", "of the app")
    assert bodies(on_github)[-1] == f"{MAIN}\nof the app"


def test_a_host_without_pages_is_read_once(on_github: GitHub) -> None:
    comments = [{**on_github.add_comment(str(number), "a", 1), "id": number} for number in range(150)]
    on_github.instead = lambda asked: Answer(200, comments) if asked.method == "GET" and asked.query else None
    as_job(on_github, Host.GITEA).keep_comment(7, "MAIN", "ours")
    assert sum(asked.method == "GET" and bool(asked.query) for asked in on_github.asked) <= 4


def test_a_status_says_whether_the_gate_passes(on_github: GitHub, on_gitlab: GitLab) -> None:
    long = "x" * 500
    as_job(on_github).set_status(SHA, passed=False, description=long, address="https://ci.example.com/7")
    as_project(on_gitlab, pipeline="44").set_status(SHA, passed=True, description=long, address=None)
    assert on_github.statuses == [
        {
            "sha": SHA,
            "state": "failure",
            "context": "traceline/gate",
            "description": long[:140],
            "target_url": "https://ci.example.com/7",
        }
    ]
    assert on_gitlab.statuses == [
        {
            "project": "9",
            "sha": SHA,
            "state": "success",
            "name": "traceline/gate",
            "description": long[:255],
            "pipeline_id": 44,
        }
    ]


def test_the_change_of_a_second_workflow_is_found_by_its_branch_and_commit(on_github: GitHub) -> None:
    on_github.pulls = [
        {"owner": "mallory", "branch": "fix", "number": 8, "sha": "0" * 40},
        {"owner": "mallory", "branch": "fix", "number": 9, "sha": SHA},
    ]
    assert as_job(on_github).find_change("mallory:fix", SHA) == 9
    assert as_job(on_github).find_change("mallory:fix", "1" * 40) is None


REFUSALS = [
    (Answer(401, {"message": "Bad credentials"}), Exit.UNREACHABLE, "does not know the token in GITHUB_TOKEN"),
    (Answer(403, {"message": "Resource not accessible by integration"}), Exit.UNREACHABLE, "permissions: {"),
    (Answer(403, {"message": "x"}, {"x-ratelimit-remaining": "0"}), Exit.UNREACHABLE, "limits how often"),
    (Answer(404, {"message": "Not Found"}), Exit.REFUSED, "or the token may not see it"),
    (Answer(410, {"message": "Gone"}), Exit.REFUSED, "is it locked"),
    (Answer(422, {"message": "Validation Failed", "errors": []}), Exit.REFUSED, "GitHub says: Validation Failed"),
    (Answer(500, {"message": "x\x1b[31m\nred"}), Exit.UNREACHABLE, "GitHub says: x red"),
    (Answer(500, HTML), Exit.UNREACHABLE, "is no JSON: is http://127.0.0.1"),
    (Answer(200, HTML), Exit.UNREACHABLE, "does not answer as GitHub's API does"),
    (Answer(200, []), Exit.UNREACHABLE, "does not answer as GitHub's API does"),
    (Answer(301, "", {"Location": "https://evil.example/"}), Exit.UNREACHABLE, "redirects to https://evil.example/"),
]


@pytest.mark.parametrize(("answer", "code", "said"), REFUSALS)
def test_what_github_refuses_is_told_with_what_to_do(on_github: GitHub, answer: Answer, code: Exit, said: str) -> None:
    on_github.instead = lambda asked: answer if asked.method == "POST" else None
    client = as_job(on_github)
    for call in (
        lambda: client.keep_comment(7, "MAIN", "text"),
        lambda: client.set_status(SHA, passed=True, description="", address=None),
    ):
        with pytest.raises(Failure, match=r"GitHub|127") as refused:
            call()
        assert said in refused.value.message
        assert "\n" not in refused.value.message
        assert "\x1b" not in refused.value.message
        assert refused.value.exit_code == code


def test_a_refusal_as_github_recorded_it_is_told_in_its_words(on_github: GitHub) -> None:
    recorded = json.loads((FOLDER / "github.json").read_bytes())["recorded"]
    (refused,) = [one for one in recorded if one["status"] == 422]
    on_github.instead = lambda _: Answer(422, refused["response"])
    with pytest.raises(Failure, match="GitHub says: Validation Failed"):
        as_job(on_github).set_status(SHA, passed=True, description="", address=None)
    statuses = [one for one in recorded if "/statuses/" in one["path"]]
    assert statuses
    for one in statuses:
        on_github.instead = lambda _, one=one: Answer(one["status"], one["response"])
        assert as_job(on_github).set_status(SHA, passed=True, description="", address=None) == "success"


@pytest.mark.parametrize(
    ("answer", "code", "said"),
    [
        (Answer(401, {"message": "401 Unauthorized"}), Exit.UNREACHABLE, "job token may write neither"),
        (Answer(403, {"message": "403 Forbidden"}), Exit.UNREACHABLE, "scope api"),
        (Answer(404, {"message": "404 Not Found"}), Exit.REFUSED, "or the token may not see it"),
        (Answer(400, {"message": {"name": ["is too long"]}}), Exit.REFUSED, "is too long"),
        (Answer(422, {"error": "no"}), Exit.REFUSED, "GitLab says: no"),
        (Answer(500, HTML), Exit.UNREACHABLE, "is no JSON"),
        (Answer(201, HTML), Exit.UNREACHABLE, "does not answer as GitLab's API does"),
    ],
)
def test_what_gitlab_refuses_is_told_with_what_to_do(on_gitlab: GitLab, answer: Answer, code: Exit, said: str) -> None:
    on_gitlab.instead = lambda asked: answer if asked.method == "POST" else None
    with pytest.raises(Failure) as refused:
        as_project(on_gitlab).keep_comment(7, "MAIN", "text")
    assert said in refused.value.message
    assert refused.value.exit_code == code


@pytest.mark.parametrize("status", [429, 502, 503])
def test_a_host_that_is_busy_is_asked_again(on_github: GitHub, status: int) -> None:
    on_github.add_comment(f"{MAIN}\nold")
    left = [Answer(status, {"message": "later"}, {"Retry-After": "0"})] * 2
    on_github.instead = lambda asked: left.pop() if left and asked.method == "PATCH" else None
    assert as_job(on_github).keep_comment(7, "MAIN", "new") == "edited"
    assert bodies(on_github) == [f"{MAIN}\nnew"]


def test_a_comment_that_may_have_been_written_is_not_sent_again(on_github: GitHub) -> None:
    on_github.instead = lambda asked: Answer(502, HTML) if asked.method == "POST" else None
    with pytest.raises(Failure, match="it answers 502") as failed:
        as_job(on_github).keep_comment(7, "MAIN", "text")
    assert failed.value.exit_code == Exit.UNREACHABLE
    assert sum(asked.method == "POST" for asked in on_github.asked) == 1


def test_a_host_that_limits_us_for_long_is_told(on_github: GitHub) -> None:
    on_github.instead = lambda _: Answer(429, {"message": "slow down"}, {"Retry-After": "0"})
    with pytest.raises(Failure, match="limits how often"):
        as_job(on_github).set_status(SHA, passed=True, description="", address=None)


def test_a_host_that_takes_a_connection_and_answers_nothing_ends_in_time(on_github: GitHub) -> None:
    on_github.silent = True
    with pytest.raises(Failure, match="has not answered within 1 s") as failed:
        as_job(on_github, within=1).set_status(SHA, passed=True, description="", address=None)
    assert failed.value.exit_code == Exit.TIMED_OUT


@pytest.mark.parametrize(
    ("is_fork", "said"), [(True, "the form in two steps"), (False, "GITHUB_TOKEN: ${{ github.token }}")]
)
def test_without_a_token_it_is_said_how_to_have_one(*, is_fork: bool, said: str) -> None:
    change = Change(host=Host.GITHUB, api="https://127.0.0.1", repository="a/b", is_fork=is_fork)
    with pytest.raises(Failure) as failed:
        github.GitHub(change, {}, author=None, deadline=Deadline(1), say=lambda _: None)
    assert said in failed.value.message
    assert failed.value.exit_code == Exit.UNREACHABLE
    with pytest.raises(Failure, match="job token may write neither notes nor statuses"):
        gitlab.GitLab(change, {"CI_JOB_TOKEN": "x"}, deadline=Deadline(1), say=lambda _: None)


def test_a_fork_whose_token_may_only_read_is_shown_the_way(on_github: GitHub) -> None:
    on_github.instead = lambda asked: Answer(403, {"message": "no"}) if asked.method == "POST" else None
    with pytest.raises(Failure, match="the form in two steps"):
        as_job(on_github, is_fork=True).keep_comment(7, "MAIN", "text")
