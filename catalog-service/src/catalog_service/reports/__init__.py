"""Traceability matrix, coverage by module, and gaps: what the links say about the whole."""
