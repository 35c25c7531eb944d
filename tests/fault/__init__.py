"""A package: what its tests share ends with the last of them, not with the last of all."""
