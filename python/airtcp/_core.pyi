"""The Rust core: scenarios in, runs out. Conversion only; the public face is `airtcp`."""

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Final, final

__all__ = [
    "AirtcpError",
    "RunError",
    "RunResult",
    "Scenario",
    "ScenarioError",
    "deployments",
    "engine_version",
    "probes",
    "profiles",
    "record_session",
    "remedies",
    "run",
    "run_many",
    "schema",
    "script",
    "session_window",
]

engine_version: Final[str]

class AirtcpError(Exception): ...
class ScenarioError(AirtcpError, ValueError): ...
class RunError(AirtcpError, RuntimeError): ...

@final
class Scenario:
    @staticmethod
    def parse(
        text: str,
        source: str = "scenario",
        base: str | PathLike[str] = ".",
        settings: Sequence[tuple[str, str]] = (),
    ) -> Scenario: ...
    @staticmethod
    def load(path: str | PathLike[str], settings: Sequence[tuple[str, str]] = ()) -> Scenario: ...
    def with_remedies(self, remedies: str) -> Scenario: ...
    def to_toml(self) -> str: ...
    def hash(self) -> str: ...
    @property
    def name(self) -> str: ...

@final
class RunResult:
    def summary(self) -> str: ...
    def samples(self) -> bytes: ...
    def events(self) -> bytes: ...
    def frames(self) -> bytes: ...
    def agents(self) -> bytes: ...
    def rtts(self) -> bytes: ...

def run(
    scenario: Scenario,
    seed: int,
    *,
    probes: Sequence[str] = (),
    probe_interval_s: float | None = None,
    events: bool = False,
    air: bool = False,
    rtts: bool = False,
    pcap: str | PathLike[str] | None = None,
    qlog: str | PathLike[str] | None = None,
    replay: str | PathLike[str] | None = None,
    progress: Callable[[float], object] | None = None,
) -> RunResult: ...
def run_many(
    cells: Sequence[tuple[Scenario, int]],
    threads: int,
    on_done: Callable[[int, RunResult], object] | None = None,
) -> list[RunResult | RunError]: ...
def probes() -> list[str]: ...
def deployments(remedies: str) -> str: ...
def remedies() -> str: ...
def schema() -> str: ...
def profiles() -> list[tuple[str, str]]: ...
def script(name: str, text: str, profile: str) -> tuple[str, int, str]: ...
def session_window(
    file: str | PathLike[str], peer: str, at: int, offset: int
) -> tuple[int | None, list[str]]: ...
def record_session(
    file: str | PathLike[str], peer: str, at: int, offset: int, window: int
) -> list[str]: ...
