"""What is written for supervisord and for the programs, read by supervisord and by program.sh themselves."""

import os
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from supervisor.options import ServerOptions  # type: ignore[import-untyped]

from chassis.core.internal_tokens import public_key
from chassis.local.free_ports import free_port
from chassis.local.rabbitmq import PrivateNode
from stack import configuration, ports
from stack.programs import SERVICES, Surroundings, all_processes, processes_with_ports, programs
from testing.internal import KEYS

SECRET = """a secret 'with' $HOME, "quotes", `false`; # and %(so)s on"""
PORTS = {name: 20_000 + number for number, name in enumerate(processes_with_ports())}
METRICS_PORTS = {name: 21_000 + number for number, name in enumerate(all_processes())}
PROGRAM = Path(configuration.__file__).with_name("program.sh")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data folder with the configuration of all programs."""
    given = Surroundings(
        listener=("127.0.0.1", 8000),
        ports=PORTS,
        metrics_ports=METRICS_PORTS,
        database_urls={service: f"postgresql:///{package}" for service, package in SERVICES.items()},
        rabbitmq_urls=dict.fromkeys(SERVICES, SECRET),
        signing_keys=KEYS,
    )
    configuration.write(tmp_path, programs(given))
    return tmp_path


def environment(folder: Path, program: str, process: str) -> dict[str, str]:
    """What a process would get: started as supervisord does it, with `env` in its place."""
    names = {"SUPERVISOR_GROUP_NAME": program, "SUPERVISOR_PROCESS_NAME": process, "PATH": os.environ["PATH"]}
    override = folder / "overrides" / f"{process}.env"
    kept = override.read_text() if override.exists() else None
    with override.open("a") as file:
        file.write("COMMAND='env -0'\n")
    done = subprocess.run(["/bin/sh", PROGRAM], cwd=folder, env=names, capture_output=True, text=True, check=True)
    override.unlink() if kept is None else override.write_text(kept)
    return dict(line.split("=", 1) for line in done.stdout.split("\0") if line)


def test_supervisord_reads_it_and_finds_every_process(folder: Path) -> None:
    options = ServerOptions()
    options.realize(["-c", str(folder / "supervisord.conf")])
    found = {process.name for group in options.process_group_configs for process in group.process_configs}
    assert found == {*PORTS, "gateway-0", "gateway-1"}
    (gateway,) = (group for group in options.process_group_configs if group.name == "gateway")
    assert gateway.socket_config.addr() == ("127.0.0.1", 8000), "one listener for both"


def test_a_setting_arrives_as_it_is_whatever_its_letters(folder: Path) -> None:
    assert environment(folder, "catalog-worker", "catalog-worker")["RABBITMQ_URL"] == SECRET


def test_each_copy_of_a_worker_answers_at_a_port_of_its_own(folder: Path) -> None:
    found = {
        process: environment(folder, "suggestion-worker", process)["HTTP_PORT"]
        for process in ("suggestion-worker-0", "suggestion-worker-1")
    }
    assert found == {process: str(PORTS[process]) for process in found}


def test_each_process_tells_what_it_measures_at_a_port_of_its_own(folder: Path) -> None:
    programs_of = {
        process: process.rpartition("-")[0] if process[-1].isdigit() else process for process in METRICS_PORTS
    }
    found = {process: environment(folder, program, process)["METRICS_PORT"] for process, program in programs_of.items()}
    assert found == {process: str(port) for process, port in METRICS_PORTS.items()}


def test_nothing_that_the_gateway_does_not_need_is_given_to_it(folder: Path) -> None:
    assert {"DATABASE_URL", "RABBITMQ_URL"} & set(environment(folder, "gateway", "gateway-0")) == set()


def test_a_program_has_its_own_key_where_it_calls_and_those_of_its_callers_where_it_is_called(folder: Path) -> None:
    given = {name: environment(folder, name, name) for name in ("suggestion-service", "catalog-worker", "auth-service")}
    keys = {name: one.get("INTERNAL_SIGNING_KEY") for name, one in given.items()}
    assert keys == {
        "suggestion-service": KEYS["suggestion-service"],
        "catalog-worker": KEYS["catalog-service"],
        "auth-service": None,
    }
    trusted = {name: one.get("INTERNAL_TRUSTED_KEYS") for name, one in given.items()}
    assert trusted["catalog-worker"] is None
    callers = ("catalog-service", "gateway", "notification-service")
    assert trusted["suggestion-service"] == " ".join(public_key(KEYS[caller]) for caller in callers)


def test_an_override_of_one_process_wins_over_that_of_its_program(folder: Path) -> None:
    configuration.write_settings(
        folder / "overrides" / "gateway.env", {"CATALOG_URL": "http://a", "AUTH_URL": "http://a"}
    )
    configuration.write_settings(folder / "overrides" / "gateway-1.env", {"CATALOG_URL": "http://b"})
    first, second = (environment(folder, "gateway", process) for process in ("gateway-0", "gateway-1"))
    assert (first["CATALOG_URL"], first["AUTH_URL"]) == ("http://a", "http://a")
    assert (second["CATALOG_URL"], second["AUTH_URL"]) == ("http://b", "http://a")


def test_overrides_survive_the_next_start_and_settings_of_programs_that_are_gone_do_not(folder: Path) -> None:
    mine, old = folder / "overrides" / "gateway.env", folder / "settings" / "gone.env"
    configuration.write_settings(mine, {"AUTH_URL": "http://a"})
    configuration.write_settings(old, {"AUTH_URL": "http://a"})
    configuration.write(folder, [])
    assert mine.exists()
    assert not old.exists()


def test_secrets_stand_only_in_files_that_nobody_else_can_read(folder: Path) -> None:
    with_secret = [file for file in folder.rglob("*") if file.is_file() and "INTERNAL_SIGNING_KEY" in file.read_text()]
    assert with_secret
    assert {stat.S_IMODE(file.stat().st_mode) for file in with_secret} == {0o600}
    assert folder / "supervisord.conf" not in with_secret


def test_a_port_stays_the_same_until_somebody_else_has_it(tmp_path: Path) -> None:
    file = tmp_path / "ports.json"
    first = ports.assign(file, ["one", "two"], taken={8000})
    assert ports.assign(file, ["one", "two"], taken={8000}) == first
    with socket.socket() as other:
        other.bind(("127.0.0.1", first["one"]))
        other.listen()
        moved = ports.assign(file, ["one", "two"], taken={8000})
    assert moved["one"] != first["one"]
    assert moved["two"] == first["two"]


def test_a_port_that_is_promised_to_another_is_given_up(tmp_path: Path) -> None:
    """As when RabbitMQ has got it, which does not listen yet."""
    file = tmp_path / "ports.json"
    first = ports.assign(file, ["one", "two"], taken=set())
    taken = {first["one"]}
    moved = ports.assign(file, ["one", "two"], taken)
    assert moved["one"] != first["one"]
    assert moved["two"] == first["two"]
    assert taken == {first["one"], *moved.values()}


def test_no_port_is_given_twice_before_somebody_listens() -> None:
    """Everything of a stack starts at the same time."""
    given = [free_port(None, set()) for _ in range(1000)]
    assert len(set(given)) == 1000


def test_no_two_processes_are_given_the_same_port(tmp_path: Path) -> None:
    """Neither listens yet: another process must leave out what is given here, and what a stack here had before."""
    mine = {free_port(None, set()) for _ in range(500)}
    file = tmp_path / "ports.json"
    stored = ports.assign(file, ["one", "two"], taken=set())
    asking = f"""
import sys
from pathlib import Path
from chassis.local.free_ports import free_port
from stack import ports
print(*ports.assign(Path({str(file)!r}), ["one", "two"], set()).values(), *(free_port(None, set()) for _ in range(500)))
"""
    output = subprocess.run([sys.executable, "-c", asking], check=True, capture_output=True, text=True).stdout
    theirs = {int(port) for port in output.split()}
    assert len(theirs) == 502
    assert not theirs & (mine | set(stored.values()))


def test_the_ports_of_a_node_are_known_before_it_runs(tmp_path: Path) -> None:
    node = PrivateNode(tmp_path / "rabbitmq", port=5673)
    node.prepare()
    assert len(node.ports) == 3
    assert 5673 in node.ports
