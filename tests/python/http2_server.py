"""Hypercorn with the four URLs of draft-ietf-ippm-responsiveness, as a separate process.

Called with a descriptor that listens, its URL, a key, a certificate, the bytes of the large object
and the protocols that it offers. `/state` returns the requests so far.
"""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from hypercorn.asyncio import serve
from hypercorn.config import Config

from test_measure_https import configuration

Messages = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]

PART = bytes(65536)


class Application:
    """Served contents, and the requests for them."""

    def __init__(self, url: str, large: int) -> None:
        """Nothing was asked yet."""
        self._url, self._large = url, large
        self._versions: set[str] = set()
        self._asked: list[str] = []
        self._taken = 0

    async def __call__(self, scope: dict[str, Any], receive: Messages, send: Send) -> None:
        """Answers a request."""
        if scope["type"] != "http":
            return
        path = scope["path"]
        if path != "/state":
            self._versions.add(scope["http_version"])
            self._asked.append(path)
        answers = {
            "/.well-known/nq": configuration(self._url).encode(),
            "/small": b"x",
            "/upload": b"",
            "/large": b"",
            "/state": self._state(),
        }
        if path == "/upload":
            while (message := await receive()).get("more_body"):
                self._taken += len(message["body"])
        status = 200 if path in answers else 404
        await send({"type": "http.response.start", "status": status, "headers": []})
        for _ in range(self._large // len(PART) if path == "/large" else 0):
            await send({"type": "http.response.body", "body": PART, "more_body": True})
        await send({"type": "http.response.body", "body": answers.get(path, b"")})

    def _state(self) -> bytes:
        state = {"versions": list(self._versions), "asked": self._asked, "taken": self._taken}
        return json.dumps(state).encode()


def main() -> None:
    """Serves until it is ended."""
    descriptor, url, key, chain, large, *protocols = sys.argv[1:]
    config = Config()
    config.bind = [f"fd://{descriptor}"]
    config.keyfile, config.certfile = key, chain
    config.alpn_protocols = protocols
    asyncio.run(serve(Application(url, int(large)), config))  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
