"""Fields of a project: what its items have beside the fields of all, as its admins have defined it."""
