"""Causes other than the link's rate, queue and losses: one file for each."""
