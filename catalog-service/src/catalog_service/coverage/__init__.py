"""Watches coverage and tells when it drops below the threshold."""
