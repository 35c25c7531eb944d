"""Projects, who is a member of which, and what each wants otherwise than the installation."""
