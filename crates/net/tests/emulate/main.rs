//! The emulator as users run it: the program itself, namespaces, real sockets.
//!
//! If the system does not allow namespaces, each test prints that and is skipped.
#![cfg(target_os = "linux")]

mod channel;
mod leavings;
mod measure;
mod record;
mod reports;
mod requests;
mod way_out;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The program under test.
fn airtcp_net() -> Command {
    Command::new(env!("CARGO_BIN_EXE_airtcp-net"))
}

/// A scenario of a pipe, with further lines for its tables.
struct Scenario {
    folder: tempfile::TempDir,
}

impl Scenario {
    fn new(text: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder for the scenario");
        std::fs::write(folder.path().join("link.toml"), text).expect("the scenario is written");
        Self { folder }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("link.toml")
    }

    fn folder(&self) -> &Path {
        self.folder.path()
    }
}

const PIPE: &str = "topology = \"pipe\"\n[link]\nrate = \"50 Mbit/s\"\ndelay = \"10 ms\"\n";

/// Whether namespaces and devices are available here; prints why a test is skipped.
fn is_allowed() -> bool {
    let scenario = Scenario::new(PIPE);
    let output = airtcp_net()
        .args(["emulate", "--quiet"])
        .arg(scenario.path())
        .args(["--", "true"])
        .output()
        .expect("the program starts");
    if !output.status.success() {
        airtcp_needs::skip(String::from_utf8_lossy(&output.stderr));
    }
    output.status.success()
}

/// Runs a shell command at the station of `scenario`, and `server` at the other end.
fn emulate(scenario: &Scenario, options: &[&str], server: &str, station: &str) -> Output {
    airtcp_net()
        .args(["emulate", "--quiet"])
        .arg(scenario.path())
        .args(options)
        .args(["--server", server, "--", "sh", "-c", station])
        .current_dir(scenario.folder())
        .output()
        .expect("the program starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim().to_owned()
}
