"""Packages of the gateway for routers, and the layout of an image, read back by other programs."""

import gzip
import hashlib
import io
import json
import sys
import tarfile
import zlib
from email.parser import Parser
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "packaging"))
import debian  # noqa: E402
import oci  # noqa: E402
import router  # noqa: E402
from archive import File, tarred  # noqa: E402

sys.path.remove(str(ROOT / "packaging"))

PROGRAM = b"\x7fELF, a gateway"


def _files(archive: bytes) -> dict[str, tuple[bytes, int]]:
    """Content and mode of each file of an archive, compressed or not."""
    with tarfile.open(fileobj=io.BytesIO(archive)) as opened:
        members = [one for one in opened if one.isfile()]
        assert all(one.uid == one.gid == 0 for one in members)
        return {
            one.name.removeprefix("./"): (opened.extractfile(one).read(), one.mode)
            for one in members
        }


def _has_the_gateway(files: dict[str, tuple[bytes, int]]) -> None:
    assert files["usr/sbin/airtcp-gateway"] == (PROGRAM, 0o755)
    script, mode = files["etc/init.d/airtcp-gateway"]
    assert mode == 0o755
    assert b"airtcp-net" not in script
    assert b'"$PROGRAM" --config "$file.new" --check' in script
    assert files["etc/config/airtcp-gateway"][1] == 0o644


def test_an_ipk_is_two_archives_in_one() -> None:
    parts = _files(router.ipk(router.package(PROGRAM, "x86_64")))
    assert parts["debian-binary"][0] == b"2.0\n"
    _has_the_gateway(_files(parts["data.tar.gz"][0]))
    about = _files(parts["control.tar.gz"][0])
    control = about["control"][0].decode()
    assert "Package: airtcp-gateway\n" in control
    assert "Architecture: x86_64\n" in control
    assert about["conffiles"][0] == b"/etc/config/airtcp-gateway\n"


def test_an_apk_is_two_streams_of_one_archive() -> None:
    made = router.apk(router.package(PROGRAM, "aarch64_cortex-a53"))
    first = zlib.decompressobj(wbits=31)
    first.decompress(made)
    data = first.unused_data
    # Read as one, it is one archive: gzip and tar go on with the second stream.
    files = _files(made)
    about = dict(line.split(" = ", 1) for line in files[".PKGINFO"][0].decode().splitlines())
    assert about["datahash"] == hashlib.sha256(data).hexdigest()
    assert about["arch"] == "aarch64_cortex-a53"
    _has_the_gateway(files)
    with tarfile.open(fileobj=io.BytesIO(data)) as opened:
        for one in opened:
            if one.isfile():
                found = hashlib.sha1(opened.extractfile(one).read()).hexdigest()
                assert one.pax_headers["APK-TOOLS.checksum.SHA1"] == found


def test_packages_are_the_same_for_the_same_program() -> None:
    first, second = (router.package(PROGRAM, "x86_64") for _ in range(2))
    assert router.ipk(first) == router.ipk(second)
    assert router.apk(first) == router.apk(second)


def test_a_script_that_starts_something_else_is_refused() -> None:
    with pytest.raises(ValueError, match="expected '/usr/sbin/airtcp-net"):
        router.for_gateway_alone("#!/bin/sh\n")


def test_an_image_holds_what_its_digests_name(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "usr" / "bin").mkdir(parents=True)
    (root / "usr" / "bin" / "airtcp").write_text("#!/bin/sh\n", encoding="utf-8")
    (root / "bin").symlink_to("usr/bin")
    image = tmp_path / "image.tar"
    oci.write(root, "arm64", image, "1.2.3")
    files = {name: content for name, (content, _) in _files(image.read_bytes()).items()}
    assert json.loads(files["oci-layout"]) == {"imageLayoutVersion": "1.0.0"}

    def blob(entry: dict[str, object]) -> bytes:
        name = str(entry["digest"]).removeprefix("sha256:")
        content = files[f"blobs/sha256/{name}"]
        assert hashlib.sha256(content).hexdigest() == name
        assert len(content) == entry["size"]
        return content

    (entry,) = json.loads(files["index.json"])["manifests"]
    manifest = json.loads(blob(entry))
    config = json.loads(blob(manifest["config"]))
    assert config["config"]["Entrypoint"] == ["airtcp"]
    assert config["architecture"] == "arm64"
    (layer,) = (gzip.decompress(blob(one)) for one in manifest["layers"])
    assert config["rootfs"]["diff_ids"] == [f"sha256:{hashlib.sha256(layer).hexdigest()}"]
    with tarfile.open(fileobj=io.BytesIO(layer)) as opened:
        assert opened.getmember("bin").linkname == "usr/bin"
        assert opened.extractfile("usr/bin/airtcp").read() == b"#!/bin/sh\n"


def test_an_unpacked_image_is_the_folder_again(tmp_path: Path) -> None:
    (tmp_path / "root" / "etc").mkdir(parents=True)
    (tmp_path / "root" / "etc" / "name").write_text("airtcp\n", encoding="utf-8")
    image, there = tmp_path / "image.tar", tmp_path / "there"
    oci.write(tmp_path / "root", "amd64", image, "1.2.3")
    assert oci.unpack(image, there) == ["airtcp"]
    assert (there / "etc" / "name").read_text(encoding="utf-8") == "airtcp\n"
    # A changed layer no longer has its digest.
    files = _files(image.read_bytes())
    (digest,) = (name for name, (content, _) in files.items() if content[:2] == b"\x1f\x8b")
    changed = {name: File(content) for name, (content, _) in files.items()}
    changed[digest] = File(gzip.compress(b"another"))
    image.write_bytes(tarred(changed))
    with pytest.raises(ValueError, match="another digest; write it again"):
        oci.unpack(image, there)


def test_the_debian_package_needs_the_python_that_built_it() -> None:
    control = Parser().parsestr(debian.control("amd64", 10))
    major, minor = sys.version_info[:2]
    assert control["Package"] == "airtcp"
    assert control["Installed-Size"] == "10"
    assert f"python3 (>= {major}.{minor}), python3 (<< {major}.{minor + 1})" in control["Depends"]
    first, *others = control["Description"].splitlines()
    assert len(first) < 80
    assert all(line.startswith(" ") for line in others)


def test_folders_come_before_their_files() -> None:
    with tarfile.open(fileobj=io.BytesIO(tarred({"a/b/c": File(b"x")}))) as opened:
        assert opened.getnames() == ["a", "a/b", "a/b/c"]
