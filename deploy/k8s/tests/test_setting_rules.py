"""Every rule for settings and secrets can fail: it says so when production is broken in one way."""

import pytest

from manifests import secrets, settings
from manifests.breaking import Break, Change, rules_of, said
from manifests.rules import Rule

BREAKS: list[Break] = [
    (settings.programs, "Nothing runs auth_service.worker.", lambda p: p.remove("Deployment", "auth-worker")),
    (
        settings.programs,
        "Deployment gateway: program runs no program of ours.",
        lambda p: p.container().update(command=["python", "-m", "gateway.application"]),
    ),
    (
        settings.required_are_set,
        "Deployment gateway: program is not told AUTH_URL.",
        lambda p: p.get("ConfigMap", "service-addresses")["data"].pop("SERVICE_URL"),
    ),
    (
        settings.required_are_set,
        "Deployment gateway: program is told by what is not there: ConfigMap x.",
        lambda p: p.container()["envFrom"].append({"configMapRef": {"name": "x"}}),
    ),
    (
        settings.set_are_read,
        "Deployment gateway: program is told LOG_LEVEL, which it does not read.",
        lambda p: p.env("gateway", "LOG_LEVEL", "info"),
    ),
    (
        settings.values_are_valid,
        "Deployment gateway: program is told SHUTDOWN_GRACE_SECONDS=20s, which it refuses",
        lambda p: p.env("gateway", "SHUTDOWN_GRACE_SECONDS", "20s"),
    ),
    (
        settings.ports,
        "Deployment gateway: the port metrics is 9090, and the program listens on 9091.",
        lambda p: p.env("gateway", "METRICS_PORT", "9091"),
    ),
    (
        settings.each_config_map_is_used,
        "ConfigMap mail-settings: nothing reads it.",
        lambda p: p.add("ConfigMap", "mail-settings", data={"A": "b"}),
    ),
    (
        settings.nothing_is_left_open,
        "ConfigMap c: data.A says changeme.",
        lambda p: p.add("ConfigMap", "c", data={"A": "ChangeMe"}),
    ),
    (
        secrets.come_as_files,
        "Deployment gateway: program is told INTERNAL_SIGNING_KEY by a variable, not by a file.",
        lambda p: p.env("gateway", "INTERNAL_SIGNING_KEY", "x" * 32),
    ),
    (
        secrets.come_as_files,
        "Deployment gateway: SMTP_PASSWORD of program is written out.",
        lambda p: p.env("gateway", "SMTP_PASSWORD", "x"),
    ),
    (
        secrets.none_is_inline,
        "Secret keys: it is in the manifests.",
        lambda p: p.add("Secret", "keys", stringData={"key": "x"}),
    ),
    (
        secrets.none_is_inline,
        "ConfigMap urls: data.A holds a password.",
        lambda p: p.add("ConfigMap", "urls", data={"A": "postgresql://me:mine@db/x"}),
    ),
    (
        secrets.can_be_read,
        "Deployment gateway: its programs cannot read the files of secrets.",
        lambda p: p.pod()["securityContext"].pop("fsGroup"),
    ),
    (
        secrets.each_is_made,
        "Deployment auth-service asks for the Secret auth-db-app, which nobody makes.",
        lambda p: p.secret("auth-service", "auth-database-run").update(name="auth-db-app"),
    ),
    (
        secrets.each_is_made,
        "Deployment auth-service asks for url of the Secret auth-database-run, which does not have it.",
        lambda p: p.secret("auth-service", "auth-database-run")["items"][0].update(key="url"),
    ),
    (
        secrets.none_is_left_out,
        "Deployment auth-service goes without the Secret auth-db-ca.",
        lambda p: p.secret("auth-service", "auth-database-ca").update(name="auth-db-ca"),
    ),
    (
        secrets.each_is_made,
        "The Secret default-admin is made, and nothing asks for it.",
        lambda p: p.secret("auth-service", "default-admin").update(name="auth-database-run", items=[]),
    ),
]


@pytest.mark.parametrize(("rule", "sentence", "break_it"), BREAKS, ids=[sentence for _, sentence, _ in BREAKS])
def test_a_rule_says_what_is_broken(rule: Rule, sentence: str, break_it: Change) -> None:
    complaints = said(rule, break_it)
    assert any(each.startswith(sentence) for each in complaints), complaints


def test_every_rule_was_seen_to_fail() -> None:
    assert {rule for rule, _, _ in BREAKS} == rules_of(settings, secrets)
