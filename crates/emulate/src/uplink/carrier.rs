//! slirp4netns(1) or pasta(1), which carry a namespace's packets through their sockets. The
//! machine's rules, routes and settings remain untouched; all settings are made in the far end's
//! namespace and vanish with it.

use std::net::Ipv4Addr;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{env, fs};

use airtcp_host::daemon::program;
use airtcp_host::error::{Error, Result, Tried};
use airtcp_host::masquerade::{Leaving, masquerade};
use airtcp_host::namespace::Namespace;
use rustix::process::getpid;

use super::DEVICE;
use super::tied::{ARGUMENT, MOUNTED};

/// Time allowed for a program to set up its device.
const PATIENCE: Duration = Duration::from_secs(10);
/// Interval between checks during the wait.
const LOOK: Duration = Duration::from_millis(5);

/// Programs that carry a namespace's packets through sockets. pasta comes second: the version in
/// Debian 12 (2023-03-09) closes connections over paths with a slow handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    Slirp,
    Pasta,
}

impl Carrier {
    const ALL: [Self; 2] = [Self::Slirp, Self::Pasta];

    const fn program(self) -> &'static str {
        match self {
            Self::Pasta => "pasta",
            Self::Slirp => "slirp4netns",
        }
    }

    /// The address at which it answers as a resolver, on behalf of the machine's.
    const fn resolver(self) -> Ipv4Addr {
        match self {
            // Any unused address: from the last network of RFC 6598.
            Self::Pasta => Ipv4Addr::new(100, 127, 255, 53),
            // slirp4netns(1): the built-in one.
            Self::Slirp => Ipv4Addr::new(10, 0, 2, 3),
        }
    }

    fn arguments(self, mtu: u16) -> Vec<String> {
        let mtu = mtu.to_string();
        let resolver = self.resolver().to_string();
        let arguments: Vec<&str> = match self {
            Self::Pasta => vec![
                "--foreground",
                "--quiet",
                "--config-net",
                "--netns-only",
                "--no-netns-quit",
                "--runas",
                "0:0",
                "--ns-ifname",
                DEVICE,
                // A device without an address, such as an outer link's, cannot provide one.
                "--mac-addr",
                "02:00:00:00:00:01",
                "--mtu",
                &mtu,
                "--dns-forward",
                &resolver,
                // No port of the machine leads into the namespace, or out of it.
                "-t",
                "none",
                "-u",
                "none",
                "-T",
                "none",
                "-U",
                "none",
                "--netns",
                MOUNTED,
            ],
            Self::Slirp => vec![
                "--configure",
                "--disable-host-loopback",
                "--enable-ipv6",
                "--mtu",
                &mtu,
                "--netns-type=path",
                MOUNTED,
                DEVICE,
            ],
        };
        arguments.into_iter().map(str::to_owned).collect()
    }

    /// The first installed program.
    pub fn installed() -> Option<Self> {
        let paths = env::var_os("PATH").unwrap_or_default();
        let is_installed = |carrier: &Self| {
            env::split_paths(&paths).any(|at| at.join(carrier.program()).is_file())
        };
        Self::ALL.into_iter().find(is_installed)
    }
}

/// A running program. Dropping it ends the program.
#[derive(Debug)]
pub struct Carried {
    carrier: Carrier,
    child: Child,
}

impl Carried {
    /// Connects `server`'s namespace, to which packets of up to `mtu` bytes arrive, to the
    /// machine's network. Call it from a thread that lives as long as the emulator: the program
    /// dies with the thread.
    ///
    /// # Errors
    ///
    /// The program fails; includes its message.
    pub fn start(carrier: Carrier, server: &Arc<Namespace>, mtu: u16) -> Result<Self> {
        let this = program::running()?;
        let child = Command::new(this)
            .arg(ARGUMENT)
            .arg(getpid().to_string())
            .arg(server.path())
            .arg(carrier.program())
            .args(carrier.arguments(mtu))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .tried(|| "cannot start airtcp-net once more".to_owned())?;
        let mut carried = Self { carrier, child };
        carried.await_device(server)?;
        server.enter(|| masquerade(&Leaving::by(DEVICE)?))?;
        Ok(carried)
    }

    /// Its resolver.
    pub const fn resolver(&self) -> Ipv4Addr {
        self.carrier.resolver()
    }

    /// Waits until the program has set up its device: there is a default route through it.
    fn await_device(&mut self, server: &Arc<Namespace>) -> Result<()> {
        let program = self.carrier.program();
        let begun = Instant::now();
        loop {
            if server.enter(|| Ok(has_default_route()))? {
                return Ok(());
            }
            let ended = self
                .child
                .try_wait()
                .tried(|| format!("cannot ask after {program}"))?;
            if ended.is_some() || begun.elapsed() > PATIENCE {
                let said = self.said();
                return Err(
                    Error::new(format!("{program} gives the far end no way out{said}"))
                        .remedied_by("give the far end a command by --server to do without one"),
                );
            }
            std::thread::sleep(LOOK);
        }
    }

    /// The program's last message, after a colon.
    fn said(&mut self) -> String {
        let _ = self.child.kill();
        let mut said = String::new();
        if let Some(mut stderr) = self.child.stderr.take() {
            let _ = std::io::Read::read_to_string(&mut stderr, &mut said);
        }
        let last = said.lines().rfind(|line| !line.trim().is_empty());
        last.map_or_else(String::new, |line| format!(": {}", line.trim()))
    }
}

impl Drop for Carried {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether the calling thread's namespace has a default route through [`DEVICE`], of either version
/// (`/proc/net/route`, `/proc/net/ipv6_route`).
fn has_default_route() -> bool {
    let read = |file: &str| fs::read_to_string(format!("/proc/thread-self/net/{file}"));
    let ipv4 = read("route").unwrap_or_default();
    let ipv6 = read("ipv6_route").unwrap_or_default();
    let is_default = |line: &str| {
        let columns: Vec<_> = line.split_whitespace().collect();
        let ipv4 = columns.first() == Some(&DEVICE) && columns.get(1) == Some(&"00000000");
        let ipv6 = columns.last() == Some(&DEVICE) && columns.get(1) == Some(&"00");
        ipv4 || ipv6
    };
    ipv4.lines().chain(ipv6.lines()).any(is_default)
}
