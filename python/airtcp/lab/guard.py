"""Access control: only this server's pages in a browser on this machine may send requests.

A page of another site can make a browser send requests here (cross-site request forgery), and can
give this address another name (DNS rebinding). Both show in headers that a page cannot forge:
`Host`, `Origin` and `Sec-Fetch-Site` (Fetch Metadata Request Headers, W3C, §2.4).
"""

from email.message import Message
from http import HTTPStatus

MAX_REQUEST_BYTES = 2 << 20
"""A request in JSON: a scenario is 1 MiB at most."""


class RefusedError(Exception):
    """A refused request; `status` is the HTTP status."""

    def __init__(self, status: HTTPStatus, message: str) -> None:
        super().__init__(message)
        self.status = status


def hosts(port: int) -> frozenset[str]:
    """The names under which this machine reaches one of its ports."""
    names = ("127.0.0.1", "localhost", "[::1]")
    return frozenset({f"{name}:{port}" for name in names} | ({*names} if port == 80 else set()))


def check_origin(headers: Message, port: int, *, is_navigation: bool) -> None:
    """Checks that a request comes from the page served by this machine.

    Args:
        headers: headers of the request, names in any case.
        port: port of this server.
        is_navigation: whether it only shows the page, which a link elsewhere may do.

    Raises:
        RefusedError: it does not.
    """
    host = headers.get("Host", "").lower()
    if host not in hosts(port):
        raise RefusedError(
            HTTPStatus.MISDIRECTED_REQUEST,
            f"host {host[:80]!r}: this page answers to localhost:{port} and 127.0.0.1:{port} alone",
        )
    origin = headers.get("Origin")
    if origin is not None and origin.lower() not in {f"http://{name}" for name in hosts(port)}:
        raise RefusedError(HTTPStatus.FORBIDDEN, f"origin {origin[:80]!r}: not this page")
    site = headers.get("Sec-Fetch-Site", "none")
    if not is_navigation and site not in {"same-origin", "none"}:
        raise RefusedError(HTTPStatus.FORBIDDEN, f"a request from elsewhere ({site[:20]})")


def body_length(headers: Message, most: int) -> int:
    """The length of a request's body in bytes.

    Raises:
        RefusedError: it is missing or too long.
    """
    if headers.get("Transfer-Encoding"):
        raise RefusedError(HTTPStatus.LENGTH_REQUIRED, "expected a Content-Length")
    text = headers.get("Content-Length", "")
    if not (text.isascii() and text.isdigit()):
        raise RefusedError(HTTPStatus.LENGTH_REQUIRED, "expected a Content-Length")
    length = int(text[:18])
    if len(text) > 18 or length > most:
        raise RefusedError(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            f"{text[:18]} bytes: expected at most {most // (1 << 20)} MiB",
        )
    return length
