"""Accounts by invitation: a link by which whoever was invited makes their own."""
