"""airtcp finds, proves and deploys the change that makes TCP fast over a wireless link.

    >>> import airtcp
    >>> run = airtcp.run("scenarios/lossy-pipe.toml", seed=1, settings={"link.loss.rate": 0.01})
    >>> run.summary["goodput_bps"]
    >>> comparison = airtcp.compare("scenarios/ping.toml", ["sack", "rto-factor:factor=10"])
    >>> comparison.table

Every function raises `ScenarioError` for bad input and `RunError` when a run cannot be finished;
both are `AirtcpError`.
"""

from airtcp._core import AirtcpError, RunError, Scenario, ScenarioError
from airtcp._core import engine_version as __version__
from airtcp.catalogue import Parameter, Remedy, remedies, schema
from airtcp.comparison import Comparison, compare
from airtcp.plot import TIMELINE_PROBES
from airtcp.runs import Run, run
from airtcp.scenarios import load_scenario

__all__ = [
    "TIMELINE_PROBES",
    "AirtcpError",
    "Comparison",
    "Parameter",
    "Remedy",
    "Run",
    "RunError",
    "Scenario",
    "ScenarioError",
    "__version__",
    "compare",
    "load_scenario",
    "remedies",
    "run",
    "schema",
]
