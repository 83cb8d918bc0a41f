"""A running `lion serve`, by its HTTP API."""

import http.client
import json
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pyarrow as pa

# Rows and bytes of one request: far below what the service takes at once.
ROWS, BYTES = 5000, 4 << 20
ARROW = "application/vnd.apache.arrow.stream"


class Service:
    """Asks a service, and asks again while it is away or busy: whatever is asked here may be asked
    twice and changes nothing the second time.

    Parameters
    ----------
    address
        Such as http://127.0.0.1:7878.
    token
        The text of the service's token file, where it has one.
    patience
        Seconds after which a service that does not answer is given up.
    """

    def __init__(self, address: str, token: str | None = None, patience: float = 60.0) -> None:
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(
                f"{address!r} is no address of a service: give one such as http://127.0.0.1:7878"
            )
        self.address, self.patience = address.rstrip("/"), patience
        self._token = token.strip() if token else None

    def checksum(self) -> str:
        """The checksum of the map that it serves."""
        return json.loads(self._ask("GET", "/api/map"))["checksum"]

    def place(self, points: pa.Table) -> list[dict[str, Any]]:
        """Puts points (`id`, and `x` with the lists of their values) into the live map, new or in
        place of those with the same ids, and tells where they are, in the same order."""
        answers: list[dict[str, Any]] = []
        for part in parts_of(points):
            answers += json.loads(self._ask("POST", "/api/points", in_stream(part)))
        return answers

    def _ask(self, method: str, path: str, body: bytes | None = None) -> bytes:
        wait, waited = 0.1, 0.0
        while True:
            try:
                status, answer = self._once(method, path, body)
            except (OSError, http.client.HTTPException) as error:
                problem = f"{type(error).__name__}: {error}"
            else:
                if status == 200:
                    return answer
                problem = f"{status}, {detail(answer)}"
                if status < 500 and status not in (408, 429):
                    raise ValueError(f"the service at {self.address} refuses: {problem}")
            if waited >= self.patience:
                raise ConnectionError(
                    f"the service at {self.address} has not answered for {self.patience:g} seconds "
                    f"({problem}): see that `lion serve` runs there, with its --store, and start "
                    "the query again"
                )
            time.sleep(wait)
            waited, wait = waited + wait, min(2 * wait, 5.0)

    def _once(self, method: str, path: str, body: bytes | None) -> tuple[int, bytes]:
        parts = urlsplit(self.address)
        kind = (
            http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        )
        assert parts.hostname is not None
        connection = kind(parts.hostname, parts.port, timeout=60)
        headers = {"Content-Type": ARROW} if body else {}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        try:
            connection.request(method, parts.path + path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()


def parts_of(points: pa.Table) -> Iterator[pa.Table]:
    """The points in requests that are not too large."""
    rows = min(ROWS, max(1, BYTES * len(points) // max(1, points.nbytes)))
    for start in range(0, len(points), rows):
        yield points[start : start + rows]


def in_stream(table: pa.Table) -> bytes:
    """A table in Arrow's stream format."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def detail(answer: bytes) -> str:
    """What an answer says is wrong."""
    try:
        said = json.loads(answer)
        return str(said.get("detail") or said["error"])
    except (ValueError, KeyError, AttributeError):
        return answer[:200].decode(errors="replace")
