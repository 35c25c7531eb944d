"""Who may make an account for themselves, and how often from one address."""
