//! The way from the far end of a link to the machine's network: slirp4netns(1) or pasta(1), which
//! carry it by sockets of their own. Nothing of the machine's own rules, routes or settings is
//! touched; what is set is set in the far end's namespace and goes with it.

use std::ffi::OsString;
use std::net::{IpAddr, Ipv4Addr};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{env, fs, io};

use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_bind, mount_change};
use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};
use rustix::thread::UnshareFlags;

use super::masquerade::masquerade;
use crate::error::{Error, Result, Tried};
use crate::namespace::{Namespace, leave};

/// The hidden argument with which airtcp-net becomes a program that dies with it.
pub const ARGUMENT: &str = "tied";
/// Where the program finds the far end's namespace: in a mount namespace of its own, since it drops
/// the right to look at the emulator's descriptors.
const FOLDER: &str = "/tmp";
const MOUNTED: &str = "/tmp/far-end";
/// The device of the way out, in the far end's namespace.
const DEVICE: &str = "out0";
/// How long a program may take to set its device up.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often it is looked at meanwhile.
const LOOK: Duration = Duration::from_millis(5);

/// Programs that carry a namespace's packets by sockets. pasta comes second: that of Debian 12
/// (2023-03-09) closes connections over paths on which a handshake takes its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Carrier {
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

    /// The resolver that it answers for, with the machine's own behind it.
    const fn resolver(self) -> Ipv4Addr {
        match self {
            // Any address that nobody has: of the last network of RFC 6598.
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
                // A device without an address, such as an outer link's, has none to lend.
                "--mac-addr",
                "02:00:00:00:00:01",
                "--mtu",
                &mtu,
                "--dns-forward",
                &resolver,
                // No port of the machine leads into the namespace, and none out of it.
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

    fn is_installed(self) -> bool {
        let paths = env::var_os("PATH").unwrap_or_default();
        env::split_paths(&paths).any(|folder| folder.join(self.program()).is_file())
    }
}

/// A running way out. Dropped, it ends.
#[derive(Debug)]
pub struct Uplink {
    carrier: Carrier,
    child: Child,
}

impl Uplink {
    /// Joins `server`'s namespace, in which packets of up to `mtu` bytes arrive, to the machine's
    /// network. To be called by a thread that lives as long as the emulator: the program dies with
    /// it.
    ///
    /// # Errors
    ///
    /// Neither program is installed, or the one that is cannot do it.
    pub fn start(server: &Arc<Namespace>, mtu: u16) -> Result<Self> {
        let carrier = Carrier::ALL
            .into_iter()
            .find(|carrier| carrier.is_installed())
            .ok_or_else(|| {
                Error::new("the far end has no way out to the machine's network").remedied_by(
                    "install slirp4netns or pasta (package passt), or give the far end a command \
                     by --server",
                )
            })?;
        server.enter(|| {
            // slirp4netns advertises itself as an IPv6 router: to be heard by one that forwards.
            set("ipv6/conf/default/accept_ra", "2");
            set("ipv6/conf/all/forwarding", "1");
            set("ipv4/ip_forward", "1");
            Ok(())
        })?;
        let this = env::current_exe().tried(|| "cannot find the program itself".to_owned())?;
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
        let mut uplink = Self { carrier, child };
        uplink.await_device(server)?;
        server.enter(|| masquerade(DEVICE))?;
        Ok(uplink)
    }

    /// The resolver that answers behind it.
    pub const fn resolver(&self) -> IpAddr {
        IpAddr::V4(self.carrier.resolver())
    }

    /// The program has set its device up when there is a default route through it.
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

    /// What the program said last, after a colon.
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

impl Drop for Uplink {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Changes a setting of the thread's namespace. A kernel without IPv6 has none of its settings,
/// and no packets for them.
fn set(key: &str, value: &str) {
    let _ = fs::write(format!("/proc/sys/net/{key}"), value);
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

/// Becomes a program that the kernel kills when the thread ends that started this process. Told the
/// emulator's number, the path of a namespace, which it puts where the program looks for it, and
/// the command. Only returns if that cannot be done.
///
/// # Errors
///
/// The program cannot be run, or the emulator has ended.
pub fn become_tied(arguments: &[OsString]) -> Result<i32> {
    set_parent_process_death_signal(Some(Signal::KILL))
        .tried(|| "cannot ask to die with the emulator".to_owned())?;
    let [emulator, namespace, program, arguments @ ..] = arguments else {
        return Err(Error::new("no command to run"));
    };
    // One that was killed before now can no longer kill this.
    if getppid().map(|parent| parent.to_string()).as_deref() != emulator.to_str() {
        return Err(Error::new("the emulator has ended"));
    }
    show_namespace(namespace).tried(|| format!("cannot mount a namespace at {MOUNTED}"))?;
    let error = Command::new(program).args(arguments).exec();
    Err(error).tried(|| format!("cannot run {}", program.to_string_lossy()))
}

/// Mounts the namespace of `path` where this process alone sees it.
fn show_namespace(path: &OsString) -> io::Result<()> {
    leave(UnshareFlags::NEWNS)?;
    mount_change(
        "/",
        MountPropagationFlags::PRIVATE | MountPropagationFlags::REC,
    )?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount("tmpfs", FOLDER, "tmpfs", flags, None)?;
    fs::write(MOUNTED, "")?;
    mount_bind(path, MOUNTED)?;
    Ok(())
}
