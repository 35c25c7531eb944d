"""All rules, as one table. A rule takes the objects of an overlay and tells what breaks it, a sentence a mistake."""

from collections.abc import Callable, Iterator

from manifests import connectivity, disruption, network, pods, secrets, settings
from manifests.objects import Manifests

Rule = Callable[[Manifests], Iterator[str]]

OF_EACH_PART: tuple[Rule, ...] = (
    pods.probes,
    pods.liveness_asks_the_program_alone,
    pods.readiness_asks_for_what_is_its_own,
    pods.zone_spread,
    pods.locked_in,
    pods.no_token,
    pods.images,
    pods.selectors,
    pods.volumes,
    pods.jobs,
    pods.namespace,
    disruption.budgets,
    disruption.scaling,
    disruption.rollout,
    disruption.grace,
    disruption.patience,
    network.denied_by_default,
    network.both_ends_open,
    network.names_are_found,
    network.operated_pods_are_reached,
    connectivity.services,
    connectivity.routes,
    connectivity.addresses,
    connectivity.operated_are_reached,
    settings.programs,
    settings.required_are_set,
    settings.set_are_read,
    settings.values_are_valid,
    settings.ports,
    settings.each_config_map_is_used,
    secrets.come_as_files,
    secrets.none_is_inline,
    secrets.can_be_read,
)
"""What holds for the base with any one component upon it, too."""

OF_A_WHOLE: tuple[Rule, ...] = (network.selected_in_both_directions, connectivity.monitored, secrets.each_is_made)
"""What holds when there is a database, a broker and a way in: for every overlay."""

OF_PRODUCTION: tuple[Rule, ...] = (
    disruption.copies,
    connectivity.way_in,
    settings.nothing_is_left_open,
    secrets.none_is_left_out,
)
