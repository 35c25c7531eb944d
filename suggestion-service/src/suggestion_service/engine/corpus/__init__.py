"""The items that are compared, in memory: column stores of both sides, and views of them that never change."""
