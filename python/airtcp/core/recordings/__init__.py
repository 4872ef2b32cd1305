"""Users' recordings of a link: events by time, and conversion to a scenario."""
