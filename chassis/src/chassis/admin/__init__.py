"""The operator's command: `python -m chassis.admin --help`."""
