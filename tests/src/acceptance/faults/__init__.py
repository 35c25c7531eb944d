"""What the fault suite stands on: a load whose history is kept, faults to make, and invariants to check afterwards."""
