"""libelf and zlib as static libraries for the glibc of a wheel, which airtcp-net's BPF needs.

Their sources come with the crate libbpf-sys, which would build them with autotools and the
machine's C library. Here each file is compiled by zig, which can target any.
"""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from os import cpu_count
from pathlib import Path

CONFIGURATION = """\
#define _GNU_SOURCE 1
#define PACKAGE_NAME "elfutils"
#define HAVE_VISIBILITY 1
#define HAVE_FALLTHROUGH 1
#define HAVE_ERR_H 1
#define HAVE_ERROR_H 1
#define HAVE_DECL_MEMRCHR 1
#define HAVE_DECL_RAWMEMCHR 1
#define HAVE_DECL_MEMPCPY 1
#define HAVE_DECL_REALLOCARRAY 1
#define HAVE_DECL_POWEROF2 0
#define _(text) text
#include <eu-config.h>
"""
"""Output of elfutils' configure on Linux with glibc; without locks, which it does not use either
unless asked, and without zstd."""


def build(sources: Path, folder: Path, target: str) -> dict[str, str]:
    """Builds libelf.a and libz.a for a target of zig's in `folder`.

    Returns the variables with which libbpf-sys finds them.
    """
    elfutils, zlib = sources / "elfutils", sources / "zlib"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.h").write_text(CONFIGURATION)
    headers = [folder, elfutils / "lib", elfutils / "libelf", zlib]
    options = ["-target", target, "-O2", "-fPIC", "-w", "-fno-sanitize=all", "-std=gnu99", "-c"]
    options += [f"-I{header}" for header in headers]
    zig = [sys.executable, "-m", "ziglang"]

    def compile_one(source: Path) -> Path:
        compiled = folder / f"{source.parent.name}-{source.stem}.o"
        own = ["-include", folder / "config.h"] if source.parent != zlib else ["-DHAVE_UNISTD_H"]
        subprocess.run([*zig, "cc", *options, *own, source, "-o", compiled], check=True)
        return compiled

    for library, of in (("libelf.a", elfutils / "libelf"), ("libz.a", zlib)):
        with ThreadPoolExecutor(cpu_count()) as threads:
            compiled = list(threads.map(compile_one, sorted(of.glob("*.c"))))
        (folder / library).unlink(missing_ok=True)
        subprocess.run([*zig, "ar", "rcs", folder / library, *compiled], check=True)
    return {
        "LIBBPF_SYS_LIBRARY_PATH": str(folder),
        "LIBBPF_SYS_EXTRA_CFLAGS": f"-I{elfutils / 'libelf'} -I{zlib}",
    }
