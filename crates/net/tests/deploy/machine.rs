//! A machine to deploy on: a network namespace with a device and a route, and a radio.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use airtcp_host::changes::Places;
use airtcp_host::device::Tun;
use airtcp_host::error::{Error, Result};
use airtcp_host::interface::Network;
use airtcp_host::namespace::Namespace;

use crate::radio;

/// The program under test.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_airtcp-net");

/// Runs `work` on a new machine, or prints why that is impossible.
pub fn on_a_machine(work: impl FnOnce(&Path) -> Result<()> + Send) {
    if !rustix::process::geteuid().is_root() {
        airtcp_needs::skip("deployments are root's");
        return;
    }
    if !airtcp_needs::are_met(&["ip"]) {
        return;
    }
    let namespace = match Namespace::new() {
        Ok(namespace) => namespace,
        Err(error) => {
            airtcp_needs::skip(error);
            return;
        }
    };
    let directory = tempfile::tempdir().unwrap();
    let entered = namespace.enter(|| {
        let own = Network {
            address: "10.9.0.1".parse().unwrap(),
            prefix: 24,
        };
        let _device = Tun::new("t0", 1500, &[own])?;
        radio::plug_in(directory.path());
        work(directory.path())
    });
    entered.unwrap();
}

/// The places of its deployments' state.
pub fn places(directory: &Path) -> Places {
    Places {
        state: directory.join("state"),
        pins: directory.join("bpf/airtcp"),
    }
}

/// Runs airtcp-net with these arguments and the machine's places.
pub fn airtcp_net(directory: &Path, words: &[&str]) -> Output {
    command(directory, words).output().unwrap()
}

/// The command for it.
pub fn command(directory: &Path, words: &[&str]) -> Command {
    let places = places(directory);
    let mut command = Command::new(PROGRAM);
    command.args(words);
    if words.first() == Some(&"deploy") {
        command.arg("--sys").arg(radio::sys(directory));
    }
    command
        .arg("--state")
        .arg(&places.state)
        .arg("--pins")
        .arg(&places.pins);
    command
}

/// The same, which must succeed; returns its output.
pub fn succeeds(directory: &Path, words: &[&str]) -> Result<String> {
    let output = airtcp_net(directory, words);
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(Error::new(format!(
        "{words:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    )))
}

/// The same, which must be refused; returns the error.
pub fn fails(directory: &Path, words: &[&str]) -> String {
    let output = airtcp_net(directory, words);
    assert_eq!(output.status.code(), Some(2), "{words:?}: {output:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A setting of the machine's.
pub fn setting(key: &str) -> String {
    let file = Path::new("/proc/sys").join(key.replace('.', "/"));
    fs::read_to_string(file).unwrap().trim().to_owned()
}

/// The machine's routes.
pub fn routes() -> String {
    let output = Command::new("ip").args(["-4", "route"]).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}
