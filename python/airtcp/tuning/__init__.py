"""Tuning: parameters and combinations of remedies for one link, and the gain of the best.

Settings are searched on separate seeds; the gain of the few best is then estimated on fresh
seeds, with intervals that hold jointly, since the best of many looks better than it is on the seeds
that chose it.
"""

from airtcp.tuning.tuned import Tuned, tune

__all__ = ["Tuned", "tune"]
