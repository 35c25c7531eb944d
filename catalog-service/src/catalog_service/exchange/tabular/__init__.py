"""Tables: CSV and XLSX files of anybody's tool, and the mapping that says which column is which field."""
