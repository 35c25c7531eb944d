"""Levels of requirements that a project defines: which there are, from the top, and what each needs."""
