"""Who there is: registering, reading, changing and deactivating users."""
