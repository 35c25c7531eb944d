"""Who is logged in where: every log-in that has not ended, and ending it."""
