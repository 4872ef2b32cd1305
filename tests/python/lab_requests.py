"""Requests of tests to a lab over HTTP."""

import http.client
import json
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from airtcp.lab.server import Lab

LOSSY = {
    "source": "ready/lossy-pipe",
    "settings": {"link.loss.rate": "0.02", "duration": "30 s", "tcp.profile": "newreno"},
}


def ask(
    lab: Lab,
    method: str,
    path: str,
    body: bytes | None = None,
    headers: dict[str, str] | None = None,
) -> tuple[int, http.client.HTTPMessage, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", lab.port, timeout=60)
    try:
        connection.request(method, path, body, headers or {})
        response = connection.getresponse()
        return response.status, response.headers, response.read()
    finally:
        connection.close()


def post(lab: Lab, path: str, value: object) -> tuple[int, Any]:
    status, _, body = ask(lab, "POST", path, json.dumps(value).encode())
    return status, json.loads(body)


def messages(lab: Lab, path: str, value: object) -> list[dict[str, Any]]:
    status, headers, body = ask(lab, "POST", path, json.dumps(value).encode())
    assert status == HTTPStatus.OK, body
    assert headers["Content-Type"] == "application/x-ndjson"
    return [json.loads(line) for line in body.splitlines()]


def drop(lab: Lab, files: dict[str, bytes]) -> tuple[int, Any]:
    named = quote(json.dumps([[name, len(content)] for name, content in files.items()]))
    status, _, body = ask(lab, "POST", f"/api/drop?files={named}", b"".join(files.values()))
    return status, json.loads(body)
