//! The TCP of the mobile side: `--mobile-stack`.
//!
//! `linux-NAME` is the kernel's, deployed as the catalogue describes for NAME on Linux, or with the
//! kernel's congestion control of that name.

use std::fs;
use std::io;
use std::os::fd::AsFd;

use airtcp_host::bpf;
use airtcp_host::bpf::constants;
use airtcp_host::bpf::{Constants, Program, Registered};
use airtcp_host::error::{Error, Result, Tried};
use airtcp_host::tcp_info;
use airtcp_host::tcp_settings::{has_control, setting_path};
use airtcp_remedies::deployment::{At, Concrete, ObjectFile, Step, Way};
use airtcp_remedies::{ConfiguredRemedy, Selection};
use airtcp_tcp::Profile;
use rustix::net::sockopt;

/// The prefix of the kernel's stacks.
const KERNEL: &str = "linux-";

/// Options of the mobile side's sockets, set before they connect.
#[derive(Debug)]
pub struct KernelStack {
    control: Option<String>,
    is_paced: bool,
    /// A congestion control in BPF, registered while the proxy runs.
    _registered: Option<Registered>,
}

/// The request expressed by a stack's name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct StackRequest {
    control: Option<String>,
    program: Option<(String, Constants)>,
    object: Option<ObjectFile>,
    is_paced: bool,
}

/// Whether a stack name means the kernel: Linux 2.4's belongs to the catalogue.
pub fn is_kernels(name: &str) -> bool {
    name.starts_with(KERNEL) && !name.starts_with(Profile::Linux24.name())
}

impl KernelStack {
    /// Creates the stack with that name.
    ///
    /// # Errors
    ///
    /// No such stack, one that this kernel does not support, or one that sockets cannot choose;
    /// gives the remedy.
    pub fn new(name: &str) -> Result<Self> {
        let asked = StackRequest::parse(name, name.strip_prefix(KERNEL).unwrap_or(name))?;
        let mut control = asked.control;
        let mut registered = None;
        if let Some((program, constants)) = &asked.program {
            // Another proxy may have one of the same name with other constants.
            let program = Program {
                control: program,
                object: asked.object.map(|object| object.bytes),
            };
            let unique = program.own_name();
            registered = Some(Registered::new(program, &unique, constants)?);
            control = Some(unique);
        }
        Ok(Self {
            control,
            is_paced: asked.is_paced,
            _registered: registered,
        })
    }

    /// Applies the stack to a socket that is not connected yet.
    ///
    /// # Errors
    ///
    /// The kernel refuses it; gives the remedy.
    pub fn apply(&self, socket: &impl AsFd) -> Result<()> {
        let control = self.control.as_deref().unwrap_or("the default");
        self.set(socket).map_err(|cause| {
            Error::system(format!("cannot use congestion control {control}"), cause).remedied_by(
                "root may use any that the kernel has, others those in \
                 net.ipv4.tcp_allowed_congestion_control",
            )
        })
    }

    /// The same with the system's error.
    ///
    /// # Errors
    ///
    /// The kernel refuses it.
    pub fn set(&self, socket: &impl AsFd) -> io::Result<()> {
        if let Some(control) = &self.control {
            sockopt::set_tcp_congestion(socket, control)?;
        }
        if self.is_paced {
            tcp_info::pace(socket)?;
        }
        Ok(())
    }
}

impl StackRequest {
    fn parse(name: &str, rest: &str) -> Result<Self> {
        match airtcp_remedies::parse(rest) {
            Ok(remedies) if has_ways(&remedies) => {
                let mut asked = Self::default();
                for one in remedies.as_slice() {
                    asked.take(name, one)?;
                }
                Ok(asked)
            }
            // A congestion control unknown to the catalogue, or with a different meaning there.
            _ if has_control(rest) => Ok(Self {
                control: Some(rest.to_owned()),
                ..Self::default()
            }),
            Ok(remedies) => {
                let notes = remedies.as_slice().iter();
                let notes: Vec<_> = notes.map(|one| one.remedy.deployment.note).collect();
                Err(Error::new(format!(
                    "--mobile-stack {name}: Linux cannot be had so. {}",
                    notes.join(" ")
                )))
            }
            Err(error) => Err(Error::new(format!(
                "--mobile-stack {name}: {error}; nor has this kernel a congestion control {rest}"
            ))),
        }
    }

    /// Applies the first way of a remedy that sockets support.
    fn take(&mut self, name: &str, one: &ConfiguredRemedy) -> Result<()> {
        let mut reasons = Vec::new();
        for way in one.remedy.deployment.ways_for(&one.given()) {
            match steps(one, way) {
                Ok(steps) => return self.add(name, &steps),
                Err(reason) => reasons.push(reason.to_string()),
            }
        }
        Err(Error::new(format!(
            "--mobile-stack {name}: no way to have {} for the sockets of a proxy: {}",
            one.remedy.name,
            reasons.join("; or ")
        )))
    }

    fn add(&mut self, name: &str, steps: &[Concrete]) -> Result<()> {
        for step in steps {
            let control = match step.step {
                Step::CongestionControl { name } => {
                    self.control = Some(name.to_owned());
                    true
                }
                Step::BpfCongestionControl {
                    name,
                    object,
                    constant,
                    ..
                } => {
                    self.object = object;
                    self.program = Some((name.to_owned(), constants(constant, &step.value)?));
                    true
                }
                Step::SocketOption { .. } => {
                    self.is_paced = true;
                    false
                }
                _ => false,
            };
            if control && self.control.is_some() && self.program.is_some() {
                return Err(Error::new(format!(
                    "--mobile-stack {name}: a socket has one congestion control"
                )));
            }
        }
        Ok(())
    }
}

fn has_ways(remedies: &Selection) -> bool {
    let all = remedies.as_slice();
    let has_way = |one: &ConfiguredRemedy| {
        let given = one.given();
        one.remedy.deployment.ways_for(&given).next().is_some()
    };
    !all.is_empty() && all.iter().all(has_way)
}

/// The steps of a way, if sockets support all of them here.
fn steps(one: &ConfiguredRemedy, way: &Way) -> Result<Vec<Concrete>> {
    if !matches!(way.at, At::Sender | At::BothEnds) {
        return Err(Error::new("it is none of the sender"));
    }
    let steps = way
        .concrete(&one.given(), None)
        .ok_or_else(|| Error::new("it is a factor of the link's RTT deviation"))?;
    for step in &steps {
        match step.step {
            Step::CongestionControl { name } if has_control(name) => {}
            Step::CongestionControl { name } => {
                return Err(Error::new(format!(
                    "this kernel has no congestion control {name}"
                )));
            }
            Step::BpfCongestionControl { .. } => bpf::allowed()?,
            Step::SocketOption {
                name: "SO_MAX_PACING_RATE",
                ..
            } => {}
            Step::Sysctl { key, .. } => is_set(key, &step.value)?,
            _ => {
                return Err(Error::new(
                    "it is not a socket's: airtcp deploy has it for routes or cgroups",
                ));
            }
        }
    }
    Ok(steps)
}

/// A setting applies to the whole network namespace: it is checked, and not changed.
fn is_set(key: &str, value: &str) -> Result<()> {
    let file = setting_path(key)?;
    let now = fs::read_to_string(&file).tried(|| format!("cannot read {}", file.display()))?;
    if now.split_whitespace().eq(value.split_whitespace()) {
        return Ok(());
    }
    Err(Error::new(format!(
        "{key} is {} here: sysctl -w {key}={value}",
        now.trim()
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_catalogue_says_how_a_stack_is_had() {
        let cubic = StackRequest::parse("linux-cubic", "cubic");
        if has_control("cubic") {
            let control = Some("cubic".to_owned());
            assert_eq!(cubic.unwrap().control, control);
        }
        let paced = StackRequest::parse("linux-pacing", "pacing").unwrap();
        assert!(paced.is_paced && paced.control.is_none());
        // In the catalogue this is a recovery, which Linux lacks; it has its window rule.
        let reno = StackRequest::parse("linux-reno", "reno").unwrap();
        assert_eq!(reno.control.as_deref(), Some("reno"));
    }

    #[test]
    fn names_of_the_kernels_begin_as_it_does() {
        assert!(is_kernels("linux-bbr") && is_kernels("linux-newzag:adjusted=1"));
        assert!(!is_kernels("linux-2.4") && !is_kernels("linux") && !is_kernels("newreno"));
    }

    #[test]
    fn an_error_says_what_is_known() {
        let error = |name: &str| KernelStack::new(name).unwrap_err().to_string();
        assert!(error("linux-nonsense").contains("nor has this kernel"));
        assert!(error("linux-wsc").contains("Linux cannot be had so"));
        assert!(error("linux-min-rto").contains("airtcp deploy"));
    }
}
