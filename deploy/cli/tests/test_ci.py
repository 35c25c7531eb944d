"""What CI systems say of their runs, as they document their variables."""

import json
from pathlib import Path

import pytest

from traceline_cli.ci import Pipeline, detect

GITHUB = {
    "GITHUB_ACTIONS": "true",
    "GITHUB_SERVER_URL": "https://github.com",
    "GITHUB_REPOSITORY": "acme/doors",
    "GITHUB_RUN_ID": "77",
    "GITHUB_RUN_ATTEMPT": "2",
    "GITHUB_REF_NAME": "12/merge",
    "GITHUB_HEAD_REF": "fix/door",
    "GITHUB_SHA": "abc",
    "GITHUB_WORKFLOW": "tests",
    "GITHUB_JOB": "unit",
}


@pytest.mark.parametrize(
    ("variables", "found"),
    [
        ({}, Pipeline()),
        ({"CI": "true"}, Pipeline()),
        (
            GITHUB,
            Pipeline(
                run="github:acme/doors:77",
                branch="fix/door",
                commit="abc",
                build_url="https://github.com/acme/doors/actions/runs/77",
                attempt=2,
                job="unit",
                job_try="2",
                name="tests",
                lane="tests/unit",
            ),
        ),
        (
            {
                "GITHUB_ACTIONS": "true",
                "GITHUB_JOB": "unit",
                "RUNNER_OS": "Linux",
                "TRACELINE_MATRIX": '{"python": "3.11", "node": 20, "db": {"kind": "pg"}}',
            },
            Pipeline(job='unit Linux 3.11, 20, {"kind": "pg"}', environment='3.11, 20, {"kind": "pg"}', lane="unit"),
        ),
        ({"GITHUB_ACTIONS": "true", "TRACELINE_MATRIX": "null"}, Pipeline()),
        (
            {
                "GITLAB_CI": "true",
                "CI_PROJECT_PATH": "acme/doors",
                "CI_PIPELINE_ID": "9",
                "CI_COMMIT_REF_NAME": "main",
                "CI_COMMIT_SHA": "abc",
                "CI_PIPELINE_URL": "https://gitlab.example/acme/doors/-/pipelines/9",
                "CI_NODE_INDEX": "2",
                "CI_NODE_TOTAL": "4",
                "CI_JOB_NAME": "pytest 2/4",
                "CI_JOB_ID": "8731",
                "CI_COMMIT_TIMESTAMP": "2026-03-02T08:15:00+01:00",
            },
            Pipeline(
                run="gitlab:acme/doors:9",
                branch="main",
                commit="abc",
                build_url="https://gitlab.example/acme/doors/-/pipelines/9",
                shard="2/4",
                job="pytest 2/4",
                job_try="8731",
                name="pytest",
                lane="pytest",
                commit_time="2026-03-02T08:15:00+01:00",
            ),
        ),
        (
            {
                "JENKINS_URL": "https://ci.example/",
                "JOB_NAME": "doors/main",
                "BUILD_NUMBER": "5",
                "GIT_BRANCH": "origin/main",
                "GIT_COMMIT": "abc",
                "BUILD_URL": "https://ci.example/job/doors/5/",
            },
            Pipeline(
                run="jenkins:doors/main:5",
                branch="main",
                commit="abc",
                build_url="https://ci.example/job/doors/5/",
                name="doors/main",
                lane="doors/main",
            ),
        ),
        (
            {
                "TF_BUILD": "True",
                "SYSTEM_COLLECTIONURI": "https://dev.azure.com/acme/",
                "SYSTEM_TEAMPROJECT": "doors",
                "BUILD_BUILDID": "31",
                "BUILD_SOURCEBRANCH": "refs/heads/main",
                "BUILD_SOURCEVERSION": "abc",
                "SYSTEM_JOBATTEMPT": "1",
                "SYSTEM_TOTALJOBSINPHASE": "1",
                "SYSTEM_JOBPOSITIONINPHASE": "1",
            },
            Pipeline(
                run="azure:doors:31",
                branch="main",
                commit="abc",
                build_url="https://dev.azure.com/acme/doors/_build/results?buildId=31",
                attempt=1,
            ),
        ),
        (
            {
                "CIRCLECI": "true",
                "CIRCLE_PROJECT_USERNAME": "acme",
                "CIRCLE_PROJECT_REPONAME": "doors",
                "CIRCLE_WORKFLOW_ID": "w",
                "CIRCLE_BRANCH": "main",
                "CIRCLE_SHA1": "abc",
                "CIRCLE_NODE_INDEX": "0",
                "CIRCLE_NODE_TOTAL": "2",
            },
            Pipeline(run="circleci:acme/doors:w", branch="main", commit="abc", shard="1/2"),
        ),
        (
            {"CIRCLECI": "true", "CIRCLE_TAG": "v1.0", "CIRCLE_SHA1": "abc"},
            Pipeline(branch="v1.0", commit="abc"),
        ),
        (
            {"CI": "true", "JENKINS_HOME": "/var/jenkins_home", "JOB_NAME": "doors", "BUILD_NUMBER": "5"},
            Pipeline(run="jenkins:doors:5", name="doors", lane="doors"),
        ),
        (
            {
                "BUILDKITE": "true",
                "BUILDKITE_ORGANIZATION_SLUG": "acme",
                "BUILDKITE_PIPELINE_SLUG": "doors",
                "BUILDKITE_BUILD_NUMBER": "8",
                "BUILDKITE_BRANCH": "main",
                "BUILDKITE_COMMIT": "abc",
                "BUILDKITE_RETRY_COUNT": "1",
                "BUILDKITE_PARALLEL_JOB": "1",
                "BUILDKITE_PARALLEL_JOB_COUNT": "3",
            },
            Pipeline(run="buildkite:acme/doors:8", branch="main", commit="abc", shard="2/3", attempt=2, lane="doors"),
        ),
        (
            {
                "BITBUCKET_BUILD_NUMBER": "14",
                "BITBUCKET_REPO_FULL_NAME": "acme/doors",
                "BITBUCKET_BRANCH": "main",
                "BITBUCKET_COMMIT": "abc",
                "BITBUCKET_PARALLEL_STEP": "0",
                "BITBUCKET_PARALLEL_STEP_COUNT": "2",
            },
            Pipeline(
                run="bitbucket:acme/doors:14",
                branch="main",
                commit="abc",
                build_url="https://bitbucket.org/acme/doors/pipelines/results/14",
            ),
        ),
        (
            {
                "TEAMCITY_VERSION": "2025.11",
                "TEAMCITY_PROJECT_NAME": "Doors",
                "TEAMCITY_BUILDCONF_NAME": "Tests",
                "BUILD_NUMBER": "6",
                "BUILD_VCS_NUMBER": "abc",
            },
            Pipeline(run="teamcity:Doors/Tests:6", commit="abc", name="Tests", lane="Tests"),
        ),
        (
            {
                "TRAVIS": "true",
                "TRAVIS_REPO_SLUG": "acme/doors",
                "TRAVIS_BUILD_ID": "3",
                "TRAVIS_BRANCH": "main",
                "TRAVIS_PULL_REQUEST_BRANCH": "fix/door",
                "TRAVIS_COMMIT": "merged",
                "TRAVIS_PULL_REQUEST_SHA": "abc",
                "TRAVIS_BUILD_WEB_URL": "https://app.travis-ci.com/acme/doors/builds/3",
            },
            Pipeline(
                run="travis:acme/doors:3",
                branch="fix/door",
                commit="abc",
                build_url="https://app.travis-ci.com/acme/doors/builds/3",
            ),
        ),
    ],
    ids=[
        *(
            "none",
            "unknown",
            "github",
            "github-matrix",
            "github-no-matrix",
            "gitlab",
            "jenkins",
            "azure",
            "circleci",
            "circleci-tag",
            "jenkins-unnamed",
        ),
        *("buildkite", "bitbucket", "teamcity", "travis"),
    ],
)
def test_a_pipeline_is_known_by_its_variables(variables: dict[str, str], found: Pipeline) -> None:
    assert detect(variables) == found


@pytest.mark.parametrize(
    "variables",
    [
        {"GITHUB_ACTIONS": "true", "GITHUB_SERVER_URL": "https://github.com", "GITHUB_REPOSITORY": "acme/doors"},
        {"GITLAB_CI": "true", "CI_PIPELINE_ID": "9", "CI_NODE_TOTAL": "4"},
        {"JENKINS_URL": "https://ci.example/", "BUILD_NUMBER": "5"},
        {"TF_BUILD": "True", "SYSTEM_COLLECTIONURI": "https://dev.azure.com/acme/", "BUILD_BUILDID": "31"},
        {"CIRCLECI": "true", "CIRCLE_WORKFLOW_ID": "w", "CIRCLE_NODE_INDEX": "2", "CIRCLE_NODE_TOTAL": "2"},
        {"BUILDKITE": "true", "BUILDKITE_BUILD_NUMBER": "8", "BUILDKITE_PARALLEL_JOB": "1"},
        {"BITBUCKET_BUILD_NUMBER": "14"},
        {"TEAMCITY_VERSION": "2025.11", "BUILD_NUMBER": "6"},
        {"TRAVIS": "true", "TRAVIS_BUILD_ID": "3"},
    ],
    ids=lambda variables: next(iter(variables)),
)
def test_what_is_not_set_makes_no_key_that_all_runs_would_share(variables: dict[str, str]) -> None:
    assert detect(variables) == Pipeline()


@pytest.mark.parametrize(
    ("variables", "lane", "environment", "shard"),
    [
        ({"GITHUB_ACTIONS": "true", "GITHUB_WORKFLOW": "ci", "GITHUB_JOB": "e2e"}, "ci/e2e", None, None),
        ({"GITLAB_CI": "true", "CI_JOB_NAME": "e2e"}, "e2e", None, None),
        (
            {
                "GITLAB_CI": "true",
                "CI_JOB_NAME": "test: [3.11, linux]",
                "CI_NODE_INDEX": "1",
                "CI_NODE_TOTAL": "4",
            },
            "test",
            "3.11, linux",
            None,
        ),
        (
            {"JENKINS_URL": "x", "JOB_NAME": "team/doors/fix%2Fdoor", "BRANCH_NAME": "fix/door"},
            "team/doors",
            None,
            None,
        ),
        (
            {
                "TF_BUILD": "True",
                "BUILD_DEFINITIONNAME": "ci",
                "SYSTEM_PHASENAME": "unit",
                "SYSTEM_JOBNAME": "python311",
                "SYSTEM_PARALLELEXECUTIONTYPE": "MultiConfiguration",
                "SYSTEM_JOBPOSITIONINPHASE": "1",
                "SYSTEM_TOTALJOBSINPHASE": "2",
            },
            "ci/unit",
            "python311",
            None,
        ),
        (
            {
                "TF_BUILD": "True",
                "BUILD_DEFINITIONNAME": "ci",
                "SYSTEM_PHASENAME": "unit",
                "SYSTEM_JOBNAME": "Job1",
                "SYSTEM_PARALLELEXECUTIONTYPE": "MultiMachine",
                "SYSTEM_JOBPOSITIONINPHASE": "1",
                "SYSTEM_TOTALJOBSINPHASE": "2",
            },
            "ci/unit",
            None,
            "1/2",
        ),
        ({"CIRCLECI": "true", "CIRCLE_JOB": "unit"}, "unit", None, None),
        (
            {"BUILDKITE": "true", "BUILDKITE_PIPELINE_SLUG": "doors", "BUILDKITE_LABEL": ":pytest: unit"},
            "doors/:pytest: unit",
            None,
            None,
        ),
        (
            {
                "BUILDKITE": "true",
                "BUILDKITE_PIPELINE_SLUG": "doors",
                "BUILDKITE_LABEL": "Unit",
                "BUILDKITE_STEP_KEY": "unit",
            },
            "doors/unit",
            None,
            None,
        ),
        ({"TRAVIS": "true", "TRAVIS_BUILD_STAGE_NAME": "Test"}, "Test", None, None),
    ],
)
def test_a_lane_is_the_same_in_each_run_of_a_job_and_its_matrix_is_an_environment(
    variables: dict[str, str], lane: str, environment: str | None, shard: str | None
) -> None:
    found = detect(variables)
    assert (found.lane, found.environment, found.shard) == (lane, environment, shard)


@pytest.mark.parametrize(
    ("variables", "branch"),
    [
        (
            {
                "GITLAB_CI": "true",
                "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME": "main",
                "CI_MERGE_REQUEST_SOURCE_PROJECT_PATH": "else/doors",
                "CI_MERGE_REQUEST_PROJECT_PATH": "acme/doors",
                "CI_COMMIT_REF_NAME": "main",
            },
            "else/doors:main",
        ),
        (
            {
                "GITLAB_CI": "true",
                "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME": "fix",
                "CI_MERGE_REQUEST_SOURCE_PROJECT_PATH": "acme/doors",
                "CI_MERGE_REQUEST_PROJECT_PATH": "acme/doors",
            },
            "fix",
        ),
        ({"JENKINS_URL": "https://ci.example/", "CHANGE_BRANCH": "main", "CHANGE_FORK": "else"}, "else:main"),
        ({"JENKINS_URL": "https://ci.example/", "CHANGE_BRANCH": "fix", "BRANCH_NAME": "PR-7"}, "fix"),
        (
            {
                "TF_BUILD": "True",
                "SYSTEM_PULLREQUEST_ISFORK": "True",
                "SYSTEM_PULLREQUEST_SOURCEBRANCH": "refs/heads/main",
                "BUILD_SOURCEBRANCH": "refs/pull/7/merge",
            },
            "refs/pull/7/merge",
        ),
        (
            {
                "TRAVIS": "true",
                "TRAVIS_PULL_REQUEST_BRANCH": "main",
                "TRAVIS_PULL_REQUEST_SLUG": "else/doors",
                "TRAVIS_REPO_SLUG": "acme/doors",
                "TRAVIS_BRANCH": "main",
            },
            "else/doors:main",
        ),
    ],
)
def test_the_branch_of_a_fork_is_none_of_ours(variables: dict[str, str], branch: str) -> None:
    assert detect(variables).branch == branch


@pytest.mark.parametrize(("source", "branch"), [("else/doors", "else/doors:main"), ("acme/doors", "main")])
def test_the_event_of_github_says_whose_branch_it_is(tmp_path: Path, source: str, branch: str) -> None:
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"pull_request": {"head": {"repo": {"full_name": source}}}}))
    of_pull_request = {**GITHUB, "GITHUB_HEAD_REF": "main", "GITHUB_EVENT_PATH": str(event)}
    assert detect(of_pull_request).branch == branch
    event.write_text(json.dumps({"pull_request": {"head": {"repo": None}}}))
    assert detect(of_pull_request).branch == "main"
