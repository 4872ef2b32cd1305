//! Compiles the BPF programs, with the feature `bpf`.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Names of the programs, without `.bpf.c`.
const PROGRAMS: [&str; 5] = ["coin", "newzag", "treat", "veno", "westwood"];

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if env::var_os("CARGO_FEATURE_BPF").is_none() {
        return;
    }
    let sources = PathBuf::from("../../bpf");
    println!("cargo:rerun-if-changed={}", sources.display());
    println!("cargo:rerun-if-env-changed=CLANG");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    // libbpf-sys exports the path of its libbpf headers.
    let headers = env::var("DEP_BPF_INCLUDE").expect("libbpf-sys names its headers");
    for program in PROGRAMS {
        compile(
            &sources.join(format!("{program}.bpf.c")),
            &headers,
            &out.join(format!("{program}.bpf.o")),
        );
    }
}

fn compile(source: &Path, headers: &str, object: &Path) {
    let clang = env::var("CLANG").unwrap_or_else(|_| "clang".to_owned());
    let architecture = match env::var("CARGO_CFG_TARGET_ARCH").as_deref() {
        Ok("x86_64" | "x86") => "x86",
        Ok("aarch64") => "arm64",
        Ok("arm") => "arm",
        Ok("riscv64") => "riscv",
        Ok("powerpc64") => "powerpc",
        Ok("s390x") => "s390",
        other => panic!("the feature bpf: no name of libbpf's is known for {other:?}"),
    };
    let status = Command::new(&clang)
        .args(["-O2", "-g", "-Wall", "-Werror", "-target", "bpf"])
        .arg(format!("-D__TARGET_ARCH_{architecture}"))
        .arg(format!("-I{headers}"))
        .arg("-c")
        .arg(source)
        .arg("-o")
        .arg(object)
        .status();
    match status {
        Ok(status) if status.success() => {}
        Ok(status) => panic!("{clang} ended with {status} at {}", source.display()),
        Err(error) => panic!(
            "the feature bpf needs clang ({clang}: {error}); install it (apt install clang), or \
             build without the feature"
        ),
    }
}
