"""The second factor of local accounts: one-time passwords of a phone (RFC 6238), and recovery codes."""
