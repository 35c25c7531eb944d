"""Coverage day by day: a row a day and module, kept from the day of installation on."""
