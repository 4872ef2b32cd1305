//! A router, a bridge or nothing yet between a mobile and a wired host, in namespaces without
//! names.

use std::ffi::OsStr;
use std::io::Read;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::spawn;
use std::time::{Duration, Instant};

use airtcp_host::error::{Error, Result, Tried};
use airtcp_host::namespace::Namespace;
use rustix::process::{Pid, Signal, kill_process};

/// mobile ── m0 r0 ── middle ── r1 w0 ── wired host
pub struct Router {
    pub mobile: Namespace,
    pub router: Namespace,
    pub wired: Namespace,
    pub state: tempfile::TempDir,
}

/// The connection between the two devices of the middle.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Middle {
    /// It forwards packets between two networks.
    Routes,
    /// It forwards them, and its device towards the mobile is a port of the bridge `br0`.
    RoutesFromBridge,
    /// A bridge `br0` of the kernel's, within one network.
    Bridges,
    /// Nothing: the gateway is to carry packets within one network.
    Nothing,
}

/// Every wait is for an event; a machine under load gets this long for it.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// The wired host.
pub const WIRED: Ipv4Addr = Ipv4Addr::new(10, 77, 2, 2);
pub const WIRED6: Ipv6Addr = Ipv6Addr::new(0xfd77, 2, 0, 0, 0, 0, 0, 2);

/// Runs a shell command in a namespace.
pub fn sh(namespace: &Namespace, command: &str) -> Result<String> {
    let output = namespace.enter(|| {
        Command::new("sh")
            .args(["-ec", command])
            .output()
            .tried(|| "cannot run sh".to_owned())
    })?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(Error::new(format!("{command}: {}", said.trim())))
}

/// Why a router cannot use these programs.
pub fn uses(programs: &[&str]) -> Result<()> {
    airtcp_needs::look_for(programs).map_err(|missing| Error::new(missing.to_string()))
}

impl Router {
    /// A router, or the reason for its absence.
    pub fn new(middle: Middle) -> Result<Self> {
        uses(&["ip"])?;
        let router = Self {
            mobile: Namespace::new()?,
            router: Namespace::new()?,
            wired: Namespace::new()?,
            state: tempfile::tempdir().tried(|| "cannot make a folder".to_owned())?,
        };
        let routes = matches!(middle, Middle::Routes | Middle::RoutesFromBridge);
        // Without a router both hosts are in one network.
        let (prefix, prefix6) = if routes { (24, 64) } else { (16, 16) };
        let there = router.router.path();
        let ends = [
            (&router.mobile, "m0", "r0", 1),
            (&router.wired, "w0", "r1", 2),
        ];
        for (host, device, far, net) in ends {
            sh(
                host,
                &format!(
                    "ip link add {device} type veth peer name {far} netns {there}\n\
                     ip addr add 10.77.{net}.2/{prefix} dev {device}\n\
                     ip -6 addr add fd77:{net}::2/{prefix6} dev {device} nodad\n\
                     ip link set {device} up"
                ),
            )?;
            sh(&router.router, &format!("ip link set {far} up"))?;
            let joined = match middle {
                Middle::Bridges => true,
                Middle::RoutesFromBridge => far == "r0",
                Middle::Routes | Middle::Nothing => false,
            };
            if joined {
                let join = "ip link show br0 >/dev/null 2>&1 || ip link add br0 up type bridge";
                sh(
                    &router.router,
                    &format!("{join}\nip link set {far} master br0"),
                )?;
            }
            if !routes {
                continue;
            }
            let own = if joined { "br0" } else { far };
            sh(
                &router.router,
                &format!(
                    "ip addr add 10.77.{net}.1/24 dev {own}\n\
                     ip -6 addr add fd77:{net}::1/64 dev {own} nodad"
                ),
            )?;
            sh(
                host,
                &format!(
                    "ip route add default via 10.77.{net}.1\n\
                     ip -6 route add default via fd77:{net}::1"
                ),
            )?;
        }
        if routes {
            sh(
                &router.router,
                "echo 1 > /proc/sys/net/ipv4/ip_forward\n\
                 echo 1 > /proc/sys/net/ipv6/conf/all/forwarding",
            )?;
        }
        Ok(router)
    }

    /// Starts a gateway between the devices `r0` and `r1`, and waits until it runs.
    pub fn gateway(&self, words: &[&str]) -> Result<Gateway> {
        let devices = ["--mobile", "r0", "--wired", "r1"];
        self.gateway_with(&[&devices[..], words].concat(), &[])
    }

    /// Starts a gateway with these words and variables of its environment, and waits until it runs.
    pub fn gateway_with(&self, words: &[&str], environment: &[(&str, &OsStr)]) -> Result<Gateway> {
        let report = self.state.path().join(format!("report-{}", words.len()));
        let mut command = Command::new(env!("CARGO_BIN_EXE_airtcp-net"));
        command
            .args(["gateway", "--state"])
            .arg(self.state.path())
            .arg("--report")
            .arg(&report)
            .args(words)
            .envs(environment.iter().copied())
            .stderr(Stdio::piped());
        let mut process = self.router.enter(|| {
            command
                .spawn()
                .tried(|| "cannot start the gateway".to_owned())
        })?;
        let (to, said) = channel();
        if let Some(mut pipe) = process.stderr.take() {
            spawn(move || {
                let (mut text, mut bytes) = (String::new(), [0; 4096]);
                while let Ok(length @ 1..) = pipe.read(&mut bytes) {
                    text.push_str(&String::from_utf8_lossy(&bytes[..length]));
                    // Whoever waits for it may have gone.
                    let _ = to.send(text.clone());
                }
            });
        }
        let mut gateway = Gateway {
            process,
            said,
            text: String::new(),
            report,
        };
        gateway.wait_for("the gateway runs")?;
        Ok(gateway)
    }

    /// A configuration file in the router's folder; its path.
    pub fn configuration(&self, text: &str) -> String {
        let path = self.state.path().join("gateway.toml");
        std::fs::write(&path, text).expect("the configuration is written");
        path.display().to_string()
    }

    /// Output and status of `status --json`.
    pub fn status(&self) -> Output {
        Command::new(env!("CARGO_BIN_EXE_airtcp-net"))
            .args(["gateway", "status", "--json", "--state"])
            .arg(self.state.path())
            .output()
            .expect("the program starts")
    }

    /// Waits until the gateway that runs has delayed an acknowledgment.
    pub fn wait_for_a_delay(&self) {
        let delays = || {
            let report: serde_json::Value = serde_json::from_slice(&self.status().stdout).ok()?;
            report["did"]["delayed"].as_u64()
        };
        await_that(|| delays() > Some(0), "an acknowledgment is delayed");
    }

    /// The rules installed in the router.
    pub fn rules(&self) -> String {
        sh(&self.router, "nft list tables").unwrap_or_default()
    }

    /// Waits until the rules are gone.
    pub fn wait_without_rules(&self) {
        await_that(|| !self.rules().contains("airtcp"), "the rules are gone");
    }
}

/// Waits for an event.
pub fn await_that(mut is_so: impl FnMut() -> bool, what: &str) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < PATIENCE, "timed out: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A gateway that runs. Dropped, it is killed.
pub struct Gateway {
    process: Child,
    said: Receiver<String>,
    text: String,
    report: std::path::PathBuf,
}

impl Gateway {
    /// Waits until the log has these words.
    pub fn wait_for(&mut self, words: &str) -> Result<()> {
        while !self.text.contains(words) {
            match self.said.recv_timeout(PATIENCE) {
                Ok(text) => self.text = text,
                Err(_) => return Err(Error::new(format!("no {words:?} in: {}", self.text))),
            }
        }
        Ok(())
    }

    /// Its process.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.process), signal).expect("it runs");
    }

    /// Whether it has ended.
    pub fn has_ended(&mut self) -> bool {
        self.process.try_wait().is_ok_and(|status| status.is_some())
    }

    /// Waits for its end: its status, and its report.
    pub fn end(&mut self) -> (Option<i32>, serde_json::Value) {
        let status = self.process.wait().expect("it was started");
        (status.code(), read_report(&self.report))
    }

    /// Ends it, and gives its report.
    pub fn stop(&mut self) -> serde_json::Value {
        self.signal(Signal::TERM);
        let (status, report) = self.end();
        assert_eq!(status, Some(0), "{}", self.text);
        report
    }
}

fn read_report(path: &Path) -> serde_json::Value {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
