"""How well suggestions do: what reviewers said, by method, by band and by threshold."""
