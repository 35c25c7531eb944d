"""From an address to the service that answers it, and what is added to requests and answers on the way."""
