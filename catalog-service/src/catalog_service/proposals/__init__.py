"""What agents propose and people accept: it is checked when it is proposed, and done when it is accepted."""
