"""What links and relations have in common: each joins two items, and is suspect while one of them is newer."""
