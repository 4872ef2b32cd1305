"""airtcp finds, proves and deploys the change that makes TCP fast over a wireless link.

    >>> import airtcp
    >>> run = airtcp.run("lossy-pipe", seed=1, settings={"link.loss.rate": 0.01})
    >>> run.summary["flows"][0]["timeouts"]
    0
    >>> comparison = airtcp.compare("ping", ["sack", "rto-factor:factor=10"], seeds=2)
    >>> comparison.table["remedy"].to_list()
    ['baseline', 'sack', 'rto-factor:factor=10']

Every function raises `ScenarioError` for bad input and `RunError` when a run cannot be finished;
both are `AirtcpError`.
"""

# As in `typing`, which takes longer to import than all of this: until the program has started,
# Ctrl-C gives a traceback.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from airtcp import papers, study
    from airtcp._core import AirtcpError, CaptureError, RunError, Scenario, ScenarioError
    from airtcp._core import engine_version as __version__
    from airtcp.catalogue import Parameter, Remedy, probes, remedies, remedies_frame, schema
    from airtcp.comparison import Comparison, compare
    from airtcp.diagnoses import Diagnosis, diagnose
    from airtcp.loading import load_scenario
    from airtcp.ping_diagnosis import PingDiagnosis
    from airtcp.plot import TIMELINE_PROBES
    from airtcp.runs import Run, run
    from airtcp.shipped import ShippedScenario, scenarios
    from airtcp.sweeps import plot_sweep, sweep
    from airtcp.tuning import Tuned, tune

__all__ = [
    "TIMELINE_PROBES",
    "AirtcpError",
    "CaptureError",
    "Comparison",
    "Diagnosis",
    "Parameter",
    "PingDiagnosis",
    "Remedy",
    "Run",
    "RunError",
    "Scenario",
    "ScenarioError",
    "ShippedScenario",
    "Tuned",
    "__version__",
    "compare",
    "diagnose",
    "load_scenario",
    "papers",
    "plot_sweep",
    "probes",
    "remedies",
    "remedies_frame",
    "run",
    "scenarios",
    "schema",
    "study",
    "sweep",
    "tune",
]

# Names are imported when used: a command that only prints a list should not wait for the libraries
# of figures.
_MODULES = {
    "AirtcpError": "_core",
    "CaptureError": "_core",
    "Comparison": "comparison",
    "Diagnosis": "diagnoses",
    "Parameter": "catalogue",
    "PingDiagnosis": "ping_diagnosis",
    "Remedy": "catalogue",
    "Run": "runs",
    "RunError": "_core",
    "Scenario": "_core",
    "ScenarioError": "_core",
    "ShippedScenario": "shipped",
    "TIMELINE_PROBES": "plot",
    "Tuned": "tuning",
    "compare": "comparison",
    "diagnose": "diagnoses",
    "load_scenario": "loading",
    "probes": "catalogue",
    "remedies": "catalogue",
    "remedies_frame": "catalogue",
    "run": "runs",
    "scenarios": "shipped",
    "schema": "catalogue",
    "plot_sweep": "sweeps",
    "sweep": "sweeps",
    "tune": "tuning",
}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        from importlib import import_module

        if name == "__version__":
            return import_module("airtcp._core").engine_version
        if name in {"papers", "study"}:
            return import_module(f"airtcp.{name}")
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(f"airtcp.{_MODULES[name]}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
