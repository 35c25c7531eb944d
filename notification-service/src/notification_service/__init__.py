"""Everything that happened: notifications to the right people, activity, the audit log, all from events."""
