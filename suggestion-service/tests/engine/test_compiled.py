"""Compiled functions work wherever they are run."""

from suggestion_service.engine.compiled import compiled


def test_a_function_that_cannot_be_kept_is_compiled_all_the_same() -> None:
    # A function without a file has no place beside it either.
    namespace: dict[str, object] = {}
    exec(compile("def twice(x):\n    return 2 * x\n", "/nowhere/twice.py", "exec"), namespace)  # noqa: S102
    twice = compiled(namespace["twice"])  # type: ignore[arg-type]
    assert twice(21) == 42
    assert twice.nopython_signatures
