"""Relations that earlier imports have kept as further data of requirements: found, and made by an import."""
