"""Figures: one palette, axes with units, and a table for each (see `airtcp.pages`)."""

TIMELINE_PROBES = ("cwnd", "srtt", "rto", "delivered_bytes")
"""The probes that the timeline figure needs."""
