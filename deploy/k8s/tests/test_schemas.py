"""The schemas refuse what nobody knows."""

from manifests.breaking import Production
from manifests.schemas import mistakes


def test_a_field_that_nobody_knows_is_a_mistake_in_kubernetes_and_in_custom_resources_alike() -> None:
    production = Production()
    production.container()["imagePullPolice"] = "Always"
    cluster = production.get("Cluster", "auth")
    cluster["spec"]["instance"] = 3
    said = [*mistakes([production.get("Deployment", "gateway"), cluster])]
    assert [each.partition(" are not")[0] for each in said] == [
        "Deployment gateway: spec.template.spec.containers.0: Additional properties",
        f"Cluster {cluster['metadata']['name']}: spec: Additional properties",
    ]


def test_a_kind_without_a_schema_is_a_mistake() -> None:
    unknown = {"apiVersion": "example.org/v1", "kind": "Thing", "metadata": {"name": "x"}}
    assert list(mistakes([unknown])) == ["Thing x: there is no schema of example.org/v1 Thing."]
