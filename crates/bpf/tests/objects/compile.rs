//! Objects and native programs from the repository's sources.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of the sources.
pub fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bpf")
}

fn run(command: &mut Command) {
    let done = command.output().expect("the compiler starts");
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{command:?}: {said}");
}

/// Compiles a source for BPF, with more options. Without clang, prints a line and returns `None`.
pub fn object(source: &Path, options: &[&str]) -> Option<Vec<u8>> {
    if !airtcp_needs::are_met(&["clang"]) {
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let object = folder.path().join("program.bpf.o");
    run(Command::new("clang")
        .args([
            "-O2",
            "-g",
            "-Wall",
            "-Werror",
            "-target",
            "bpf",
            "-D__TARGET_ARCH_x86",
        ])
        .args(options)
        .arg(format!("-I{}", sources().join("include").display()))
        .arg(format!("-I{}", sources().display()))
        .arg("-c")
        .arg(source)
        .arg("-o")
        .arg(&object));
    Some(std::fs::read(object).unwrap())
}

/// Compiles a text for BPF.
pub fn object_of(text: &str) -> Option<Vec<u8>> {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("text.bpf.c");
    std::fs::write(&source, text).unwrap();
    object(&source, &["-Wno-unused"])
}

/// Builds a control for this machine, and runs it through `events` events. Returns its output.
pub fn native(source: &Path, variable: &str, events: u32) -> String {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("native");
    let native = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/objects/native");
    let text = std::fs::read_to_string(source).unwrap();
    let takes_array = text.contains("_main(__u64 *arguments)");
    run(Command::new("gcc")
        // Names that the kernel's files share with the compiler are no fault here.
        .args(["-O1", "-std=gnu11", "-fwrapv", "-fno-strict-aliasing", "-w"])
        .arg(format!("-I{}", native.display()))
        .arg(format!("-DSOURCE=\"{}\"", source.display()))
        .arg(format!("-DOPS={variable}"))
        .args(takes_array.then_some("-DARGUMENTS"))
        .arg(native.join("driver.c"))
        .arg("-o")
        .arg(&program));
    let done = Command::new(&program)
        .arg(events.to_string())
        .output()
        .unwrap();
    assert!(done.status.success(), "{done:?}");
    String::from_utf8(done.stdout).unwrap()
}
