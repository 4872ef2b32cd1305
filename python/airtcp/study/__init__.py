"""Studies: scenarios times remedies times seeds, compared pair by pair."""

from airtcp.study.compare import Comparison, compare

__all__ = ["Comparison", "compare"]
