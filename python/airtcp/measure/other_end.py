"""The other end of a measurement, as a user names it: a peer, an iperf3 server, or a URL."""

import ssl
from collections.abc import Callable
from dataclasses import dataclass

from airtcp._core import RunError, ScenarioError
from airtcp.measure import iperf3
from airtcp.measure.https import Server
from airtcp.measure.load import Way
from airtcp.measure.measurement import Measurement, measure, measure_by
from airtcp.measure.wire import PORT, WireError


@dataclass(frozen=True)
class Bounds:
    """Bounds of a measurement, and its progress callback."""

    seconds: float
    most_bytes: int
    ways: tuple[Way, ...]
    progress: Callable[[float, str], object]


def measure_to(host: str, port: int | None, with_iperf3: bool, bounds: Bounds) -> Measurement:
    """Measures the link to a host, or to the URL of a server of draft-ietf-ippm-responsiveness.

    Args:
        host: the host or URL.
        port: its port; None for the usual one.
        with_iperf3: whether it is an iperf3 server, rather than `airtcp serve --measure`.
        bounds: time, bytes and directions.

    Raises:
        ScenarioError: an option is given that a URL does not take.
        RunError: the other end cannot be reached, or does not answer as expected.
    """
    if "://" in host:
        return _to_url(host, port, with_iperf3, bounds)
    work = iperf3.measure_with_iperf3 if with_iperf3 else measure
    chosen = port or (iperf3.PORT if with_iperf3 else PORT)
    try:
        return work(host, chosen, **vars(bounds))
    except WireError as error:
        raise RunError(f"{host} port {chosen}: {error}") from error
    except OSError as error:
        start = "iperf3 -s" if with_iperf3 else "airtcp serve --measure"
        raise RunError(
            f"{host} port {chosen}: {_reason(error)}; is `{start}` running there, and its port "
            "open?"
        ) from error


def _to_url(url: str, port: int | None, with_iperf3: bool, bounds: Bounds) -> Measurement:
    if with_iperf3 or port is not None:
        option = "--iperf3" if with_iperf3 else "--port"
        raise ScenarioError(f"{option} is for a host; a URL says all of it: {url}")
    try:
        return measure_by(Server(url), **vars(bounds))
    except WireError as error:
        raise RunError(str(error)) from error
    except ssl.SSLCertVerificationError as error:
        raise RunError(
            f"{url}: its certificate is not trusted ({error.verify_message}); name the file of its "
            "authority in SSL_CERT_FILE"
        ) from error
    except OSError as error:
        raise RunError(
            f"{url}: {_reason(error)}; does a server of the draft answer there?"
        ) from error


def _reason(error: OSError) -> str:
    return error.strerror or str(error) or type(error).__name__
