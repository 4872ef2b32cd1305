"""The links of the judged first sentences: 45 of every kind, each short."""

from collections.abc import Iterator, Mapping

from airtcp.core import shipped

Settings = Mapping[str, object]
"""Dotted key to value."""

AT_HORIZONS = (
    "pipe-loss-0.01",
    "pipe-50mbit",
    "pipe-100ms",
    "pipe-queue-10",
    "pipe-queue-1000",
    "pipe-bursts-rare",
    "pipe-no-loss",
    "stops-random",
    "cellular-lossy",
    "11b-0.4-down",
    "arq",
    "cell",
)
"""Links that are also judged over shorter and longer runs."""
ON_KERNEL = (
    "pipe-loss-0.001",
    "pipe-loss-0.003",
    "pipe-loss-0.01",
    "pipe-loss-0.03",
    "pipe-2mbit",
    "pipe-5ms",
    "pipe-100ms",
    "pipe-queue-10",
    "pipe-queue-1000",
    "pipe-bursts-short",
    "stops-random",
    "cellular-lossy",
)
"""Links on which a kernel in virtual time is asked, too."""


def pipes() -> Iterator[tuple[str, str, Settings]]:
    """Pipes: losses, rates, delays, queues."""
    for loss in (0.001, 0.003, 0.01, 0.03):
        yield f"pipe-loss-{loss:g}", "lossy-pipe", {"link.loss.rate": loss, "duration": "10 s"}
    for rate in ("2 Mbit/s", "50 Mbit/s"):
        name = rate.split()[0]
        settings = {"link.loss.rate": 0.005, "link.rate": rate, "duration": "10 s"}
        yield f"pipe-{name}mbit", "lossy-pipe", settings
    for delay in ("5 ms", "100 ms"):
        settings = {"link.loss.rate": 0.005, "link.delay": delay, "duration": "10 s"}
        yield f"pipe-{delay.replace(' ', '')}", "lossy-pipe", settings
    for packets in (10, 1000):
        settings = {"link.queue.packets": packets, "link.loss.rate": 0.002, "duration": "10 s"}
        yield f"pipe-queue-{packets}", "lossy-pipe", settings
    for bad, name in ((0.05, "short"), (0.005, "rare")):
        settings = {
            "link.loss.model": "gilbert-elliott",
            "link.loss.good_to_bad": bad / 10,
            "link.loss.bad_to_good": 0.2,
            "duration": "10 s",
        }
        yield f"pipe-bursts-{name}", "lossy-pipe", settings
    yield "pipe-no-loss", "lossy-pipe", {"duration": "10 s"}
    flows = {"flows.count": 3, "link.loss.rate": 0.003, "duration": "10 s"}
    yield "pipe-three-flows", "lossy-pipe", flows


def stopping() -> Iterator[tuple[str, str, Settings]]:
    """Links that stop, and recorded ones."""
    yield "stops-periodic", "wifi-suspension", {"duration": "20 s"}
    yield (
        "stops-long",
        "wifi-suspension",
        {"duration": "20 s", "link.stops.length": "1 s", "link.loss.rate": 0.001},
    )
    yield (
        "stops-random",
        "lossy-pipe",
        {
            "link.stops.process": "random",
            "link.stops.working": "3 s",
            "link.stops.length": "400 ms",
            "link.loss.rate": 0.001,
            "duration": "20 s",
        },
    )
    for log in ("wifi-spikes", "cellular-slow"):
        for loss in (0.0, 0.005, 0.02):
            settings = {"link.loss.rate": loss, "duration": "30 s"}
            yield f"{log}-{loss:g}", "ping", {"link.rtt_log.path": log} | settings
    yield "cellular-trace", "cellular", {"duration": "15 s", "link.loss.rate": 0.001}
    yield "cellular-lossy", "cellular", {"duration": "15 s", "link.loss.rate": 0.01}
    yield "cellular-shallow", "cellular", {"duration": "15 s", "link.queue.packets": 30}


def radios() -> Iterator[tuple[str, str, Settings]]:
    """802.11, ARQ and a cell."""
    for standard, rate in (("802.11b", "11 Mbit/s"), ("802.11g", "54 Mbit/s")):
        for loss in (0.1, 0.4):
            settings = {
                "wlan.standard": standard,
                "wlan.rate": rate,
                "wlan.loss.rate": loss,
                "wlan.retry_limit": 4,
                "duration": "8 s",
            }
            for way in ("up", "down"):
                name = f"{standard[4:]}-{loss:g}-{way}"
                yield name, "two-way-wlan", settings | {"flows.direction": way}
    yield "wlan-blocks", "wlan-upload", {"duration": "10 s"}
    yield "wlan-blocks-down", "wlan-upload", {"duration": "10 s", "flows.direction": "down"}
    yield "wlan-bursts", "wlan-bursts", {"duration": "10 s"}
    yield "arq", "arq-download", {"duration": "10 s"}
    yield "selective-repeat", "selective-repeat", {"duration": "5 s"}
    yield "cell", "cell", {"duration": "10 s"}


def today() -> Iterator[tuple[str, str, Settings]]:
    """802.11n to ax: aggregates, block acknowledgments, several stations."""
    yield "laptop-upload", "laptop-upload", {"duration": "4 s"}
    yield "laptop-download", "laptop-download", {"duration": "2 s"}
    yield "household", "household", {"duration": "3 s"}
    yield "slow-station", "slow-station", {"duration": "4 s"}
    yield "crowded-cell", "crowded-cell", {"duration": "2 s"}


WLAN = """
name = "two-way-wlan"
description = "One mobile on an 802.11 channel that damages frames"
topology = "wlan"
wired.delay = "15 ms"
tcp.profile = "linux"
"""
"""A link without a shipped scenario: standard, loss and direction are set."""


def links() -> dict[str, tuple[str, Settings]]:
    """Every link by name: the scenario and its settings."""
    found = {}
    for name, scenario, settings in (*pipes(), *stopping(), *radios(), *today()):
        text = WLAN if scenario == "two-way-wlan" else scenario
        if log := settings.get("link.rtt_log.path"):
            path = shipped.folder("recordings") / f"{log}.ping"
            settings = {**settings, "link.rtt_log.path": str(path)}
        found[name] = (text, settings)
    return found
