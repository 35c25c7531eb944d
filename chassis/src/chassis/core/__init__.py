"""What every room stands on: settings, identities, problems, and what tells of a request while it is answered."""
