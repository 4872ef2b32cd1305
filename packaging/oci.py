"""Writes a container image without a container engine: the layout of the OCI image specification.

    python packaging/oci.py ROOT ARCHITECTURE FILE.tar

ROOT is a folder with a system and airtcp in it (release.py makes one), ARCHITECTURE the
specification's word for its processor, such as amd64 or arm64. `podman load -i`,
`skopeo copy oci-archive:` and `docker load` (25 or later) read the file.
"""

import gzip
import hashlib
import io
import json
import sys
import tarfile
from pathlib import Path
from typing import IO, cast

from archive import INSTANT, File, tarred

_LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"
_CONFIG = "application/vnd.oci.image.config.v1+json"
_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
_INDEX = "application/vnd.oci.image.index.v1+json"


def layer(root: Path) -> bytes:
    """A folder as one layer: owners are root, times are one instant."""

    def plain(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
        # Devices belong to the engine that starts the image.
        if entry.ischr() or entry.isblk() or entry.isfifo():
            return None
        entry.mtime = INSTANT
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = ""
        return entry

    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path in sorted(root.iterdir()):
            archive.add(path, arcname=path.name, filter=plain)
    return buffer.getvalue()


def layout(
    layers: list[bytes], command: list[str], architecture: str, version: str
) -> dict[str, File]:
    """The files of a layout with one image.

    Args:
        layers: as tar archives, the lowest first.
        command: the program that the image runs.
        architecture: the specification's word for the processor.
        version: airtcp's.
    """
    blobs: dict[str, bytes] = {}

    def blob(content: bytes, kind: str) -> dict[str, object]:
        digest = hashlib.sha256(content).hexdigest()
        blobs[digest] = content
        return {"mediaType": kind, "digest": f"sha256:{digest}", "size": len(content)}

    config = {
        "architecture": architecture,
        "os": "linux",
        "config": {"Entrypoint": command, "WorkingDir": "/work"},
        "rootfs": {
            "type": "layers",
            "diff_ids": [f"sha256:{hashlib.sha256(one).hexdigest()}" for one in layers],
        },
    }
    manifest = {
        "schemaVersion": 2,
        "mediaType": _MANIFEST,
        "config": blob(_json(config), _CONFIG),
        "layers": [blob(gzip.compress(one, 6, mtime=0), _LAYER) for one in layers],
        "annotations": {
            "org.opencontainers.image.title": "airtcp",
            "org.opencontainers.image.version": version,
            "org.opencontainers.image.licenses": "MIT OR Apache-2.0",
        },
    }
    entry = blob(_json(manifest), _MANIFEST)
    entry["annotations"] = {"org.opencontainers.image.ref.name": f"airtcp:{version}"}
    index = {"schemaVersion": 2, "mediaType": _INDEX, "manifests": [entry]}
    files = {"oci-layout": File(_json({"imageLayoutVersion": "1.0.0"}))}
    files["index.json"] = File(_json(index))
    return files | {f"blobs/sha256/{name}": File(content) for name, content in blobs.items()}


def _json(content: object) -> bytes:
    return json.dumps(content, sort_keys=True, separators=(",", ":")).encode()


def write(root: Path, architecture: str, file: Path, version: str) -> None:
    """Writes the image of a folder that has airtcp in it."""
    file.write_bytes(tarred(layout([layer(root)], ["airtcp"], architecture, version)))


def unpack(file: Path, folder: Path) -> list[str]:
    """Unpacks an image with one manifest into a folder; returns the command that it runs.

    Raises:
        ValueError: a blob does not have the digest by which the image names it.
    """
    with tarfile.open(file) as image:

        def blob(entry: dict[str, str]) -> bytes:
            digest = entry["digest"].removeprefix("sha256:")
            content = cast("IO[bytes]", image.extractfile(f"blobs/sha256/{digest}")).read()
            if hashlib.sha256(content).hexdigest() != digest:
                raise ValueError(f"{file}: {entry['digest']}: another digest; write it again")
            return content

        index = json.load(cast("IO[bytes]", image.extractfile("index.json")))
        manifest = json.loads(blob(index["manifests"][0]))
        for one in manifest["layers"]:
            with tarfile.open(fileobj=io.BytesIO(gzip.decompress(blob(one)))) as archive:
                archive.extractall(folder, filter="fully_trusted")
        config = json.loads(blob(manifest["config"]))
    return cast("list[str]", config["config"]["Entrypoint"])


def main() -> None:
    """Writes one image."""
    from debian import version

    root, architecture, name = sys.argv[1:]
    file = Path(name)
    write(Path(root), architecture, file, version())
    print(f"{file.stat().st_size / 1e6:.1f} MB  {file}")


if __name__ == "__main__":
    main()
