"""Where the stack cannot start: one sentence that says what to do, exit code 1, nothing left running."""

import socket
import subprocess
from pathlib import Path

import pytest

from acceptance.process import fresh_folder, living_in
from acceptance.stack import RunningStack
from embedded.data_folder import DataFolder


def refusal(ended: subprocess.CompletedProcess[str]) -> str:
    """The one sentence with which it has refused."""
    assert ended.returncode == 1, ended
    (sentence,) = ended.stderr.splitlines()
    assert sentence.endswith(".")
    return sentence


def test_a_port_in_use() -> None:
    with fresh_folder() as place, socket.socket() as other:
        stack = RunningStack(place)
        other.bind(("127.0.0.1", stack.port))
        other.listen()
        assert f"port {stack.port}" in refusal(stack.run_to_its_end())
        assert living_in(place) == []


def test_a_data_folder_in_use() -> None:
    with fresh_folder() as place:
        _taken = DataFolder(place)
        assert f"{place} is in use" in refusal(RunningStack(place).run_to_its_end())


def test_a_data_folder_whose_path_is_too_long_for_sockets() -> None:
    with fresh_folder() as place:
        assert "TRACELINE_DATA_DIR" in refusal(RunningStack(place / ("long" * 20)).run_to_its_end())


def test_settings_that_make_no_sense() -> None:
    wrong = {
        "TRACELINE_PORT": "http",
        "TRACELINE_HOST": "::1",
        "AUTO_SUGGESTIONS_THRESHOLD": "1.5",
        "ACCESS_TOKEN_EXPIRE_MINUTES": "soon",
    }
    with fresh_folder() as place:
        stack = RunningStack(place)
        stack.settings.update(wrong)
        ended = stack.run_to_its_end()
    assert ended.returncode == 1
    assert sorted(line.split(" is ")[0] for line in ended.stderr.splitlines()) == sorted(
        f"The setting {name}" for name in wrong
    )


def test_the_built_in_password_in_production() -> None:
    with fresh_folder() as place:
        stack = RunningStack(place, ENVIRONMENT="production", DEFAULT_ADMIN_PASSWORD="traceline-admin")
        assert "DEFAULT_ADMIN_PASSWORD" in refusal(stack.run_to_its_end())


@pytest.mark.parametrize("url", ["postgresql://somebody:hush@127.0.0.1:1/postgres", "postgresql://somebody:hush@["])
def test_a_database_server_that_is_not_there(url: str) -> None:
    with fresh_folder() as place:
        stack = RunningStack(place, DATABASE_URL=url)
        sentence = refusal(stack.run_to_its_end())
        assert "DATABASE_URL" in sentence
        assert "hush" not in sentence
        assert living_in(place) == []


@pytest.mark.parametrize(
    "command",
    [
        ("ctl", "status"),
        ("admin", "catalog-worker", "feed"),
        ("run", "auth-worker", "auth_service.rotate_keys"),
        ("sql", "catalog-service"),
        ("backup", "monday"),
    ],
)
def test_operating_a_stack_that_does_not_run(tmp_path: Path, command: tuple[str, ...]) -> None:
    (tmp_path / "settings").mkdir()
    for name in ("supervisord.conf", "settings/catalog-worker.env", "settings/auth-worker.env"):
        (tmp_path / name).touch()
    (tmp_path / "postgresql").mkdir()
    with socket.socket(socket.AF_UNIX) as left_behind:
        left_behind.bind(str(tmp_path / "postgresql" / ".s.PGSQL.5432"))
    told = refusal(RunningStack(tmp_path).run_to_its_end(*command))
    assert told == f"The stack in {tmp_path} does not run; 'make stack' starts it."


def test_a_command_that_there_is_not(tmp_path: Path) -> None:
    ended = RunningStack(tmp_path).run_to_its_end("stauts")
    assert ended.returncode == 2
    assert "there is no command stauts: choose from ctl, admin, run, sql, backup, restore" in ended.stderr


def test_control_of_a_stack_that_does_not_exist(tmp_path: Path) -> None:
    assert str(tmp_path) in refusal(RunningStack(tmp_path).run_to_its_end("ctl", "status"))
