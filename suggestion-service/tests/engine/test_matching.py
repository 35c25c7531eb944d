"""Which of the shared terms are shown."""

from suggestion_service.engine.matching import heaviest


def test_of_very_many_terms_the_heaviest_are_kept_and_the_weight_of_the_others_is_known() -> None:
    weights = {f"t{number:04}": 1.0 if number < 3 else 0.5 for number in range(1000)}
    kept, others = heaviest(weights, 5)
    assert list(kept) == ["t0000", "t0001", "t0002", "t0003", "t0004"]
    assert len(others) == 995
    assert sum(kept.values()) + sum(others) == sum(weights.values())
    assert heaviest(kept, 5) == (kept, [])
