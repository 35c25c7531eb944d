"""What is to become of a file: its rows, checked and stored, and for each what it would do to the record."""
