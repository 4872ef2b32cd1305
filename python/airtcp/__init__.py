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
    from airtcp import papers
    from airtcp._core import AirtcpError, CaptureError, RunError, Scenario, ScenarioError, Socket
    from airtcp._core import engine_version as __version__
    from airtcp.comparison import study
    from airtcp.comparison.compare import compare
    from airtcp.comparison.compared import Comparison
    from airtcp.comparison.sweep import sweep
    from airtcp.core.catalogue import Parameter, Remedy, probes, remedies, remedies_frame, schema
    from airtcp.core.control import Control
    from airtcp.core.loading import load_scenario
    from airtcp.core.runs import Run, run
    from airtcp.core.shipped import ShippedScenario, scenarios
    from airtcp.diagnosis.diagnose import diagnose
    from airtcp.diagnosis.link_file import DiagnosedLink
    from airtcp.diagnosis.ping_result import PingDiagnosis
    from airtcp.diagnosis.result import Diagnosis
    from airtcp.pages.latex import latex
    from airtcp.pages.plot import TIMELINE_PROBES
    from airtcp.pages.sweep import plot_sweep
    from airtcp.tuning import Tuned, tune

__all__ = [
    "TIMELINE_PROBES",
    "AirtcpError",
    "CaptureError",
    "Comparison",
    "Control",
    "DiagnosedLink",
    "Diagnosis",
    "Parameter",
    "PingDiagnosis",
    "Remedy",
    "Run",
    "RunError",
    "Scenario",
    "ScenarioError",
    "ShippedScenario",
    "Socket",
    "Tuned",
    "__version__",
    "compare",
    "diagnose",
    "latex",
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
    "Comparison": "comparison.compared",
    "Control": "core.control",
    "DiagnosedLink": "diagnosis.link_file",
    "Diagnosis": "diagnosis.result",
    "Parameter": "core.catalogue",
    "PingDiagnosis": "diagnosis.ping_result",
    "Remedy": "core.catalogue",
    "Run": "core.runs",
    "RunError": "_core",
    "Scenario": "_core",
    "ScenarioError": "_core",
    "ShippedScenario": "core.shipped",
    "Socket": "_core",
    "TIMELINE_PROBES": "pages.plot",
    "Tuned": "tuning",
    "compare": "comparison.compare",
    "diagnose": "diagnosis.diagnose",
    "latex": "pages.latex",
    "load_scenario": "core.loading",
    "probes": "core.catalogue",
    "remedies": "core.catalogue",
    "remedies_frame": "core.catalogue",
    "run": "core.runs",
    "scenarios": "core.shipped",
    "schema": "core.catalogue",
    "plot_sweep": "pages.sweep",
    "sweep": "comparison.sweep",
    "tune": "tuning",
}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        from importlib import import_module

        if name == "__version__":
            return import_module("airtcp._core").engine_version
        if name == "papers":
            return import_module("airtcp.papers")
        if name == "study":
            return import_module("airtcp.comparison.study")
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        try:
            value = getattr(import_module(f"airtcp.{_MODULES[name]}"), name)
        except ModuleNotFoundError as error:
            raise import_module("airtcp.core.extras").with_remedy(error) from error
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
