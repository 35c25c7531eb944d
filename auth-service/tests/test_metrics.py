"""Log-ins that are refused are counted by their reason, and those that pass are not."""

from testing.metrics import Series, measured, rises

from .conftest import Service

NAME = "traceline_login_failures_total"


def failures(risen: Series) -> Series:
    return {name.removeprefix(NAME): number for name, number in risen.items() if name.startswith(NAME)}


async def test_each_refused_log_in_counts_by_its_reason(service: Service) -> None:
    kim = await service.registered("kim@example.com")
    before = await measured()
    assert (await service.log_in("kim@example.com")).status_code == 200
    assert failures(rises(before, await measured())) == {}

    await service.log_in("nobody@example.com")
    for _ in range(11):
        await service.log_in("kim@example.com", "not this one")
    await service.change(await service.admin(), kim.id or 0, {"is_active": False})
    await service.log_in("kim@example.com", address="198.51.100.7")
    assert failures(rises(before, await measured())) == {
        '{reason="unknown_account"}': 1,
        '{reason="wrong_password"}': 10,
        '{reason="throttled"}': 1,
        '{reason="account_inactive"}': 1,
    }
