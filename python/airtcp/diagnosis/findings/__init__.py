"""Causes other than the link's rate, queue and losses: each is looked for by a file of its name."""
