"""What a file looks like, before anything of it is stored."""
