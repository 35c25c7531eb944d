"""How long it takes to ask for verdicts, histories, trends and the gate with a year of results stored."""
