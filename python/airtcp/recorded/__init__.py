"""Recordings that people have of a link: what happened on it by time, and it as a scenario."""
