"""The verification report: what the results say of each requirement."""
