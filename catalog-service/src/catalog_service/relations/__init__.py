"""Relations between requirements: which stands above which, and what makes them suspect."""
