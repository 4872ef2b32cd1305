//! The rules that steer packets into the queue: in a separate chain or table, written and replaced
//! atomically, and removed at the end.
//!
//! The writer is found by trying: the kernel itself, by netlink, else the first program that
//! accepts the rules. The rules let packets pass if no program serves the queue (`bypass`), and
//! match only TCP, without SYN, FIN and RST.

mod iptables;
mod netlink;
mod nft;
pub mod offload;

use std::io::Write;
use std::process::{Command, Stdio};

use airtcp_host::device::bridge;
use airtcp_host::error::{Error, Result};
use airtcp_host::nftables::QueueBy;
use airtcp_link::agent::Toward;
use serde::{Deserialize, Serialize};

use crate::configuration::{RulesBy, Settings};
use crate::packets::filter::Segments;

/// Packets of one direction to steer into a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueRule {
    /// Whether they go to the mobiles.
    pub to_mobile: bool,
    /// Whether only packets without payload are steered.
    pub pure_acks: bool,
    /// The queue.
    pub queue: u16,
}

impl QueueRule {
    fn segments(self) -> Segments {
        if self.pure_acks {
            Segments::PureAcks
        } else {
            Segments::All
        }
    }
}

/// The packets to steer into queues.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Steering {
    /// The device towards the mobiles.
    pub mobile: String,
    /// The device towards the wired network.
    pub wired: String,
    /// Whether both are ports of one bridge.
    pub is_bridged: bool,
    /// The packets, by direction.
    pub led: Vec<QueueRule>,
}

/// Writers of rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Writer {
    /// The gateway itself, by netlink, with nf_tables' queue expression.
    Netlink,
    /// The gateway itself, by netlink, with an xtables target in nf_tables.
    NetlinkXtables,
    /// nft(8).
    Nft,
    /// iptables(8) and ip6tables(8), either variant.
    Iptables,
    /// The legacy variant.
    IptablesLegacy,
    /// No writer: the operator has written the rules.
    Nobody,
}

/// Installed rules.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rules {
    writer: Writer,
    wanted: Steering,
}

impl Steering {
    /// Determines the packets to steer into the queues for the agents of `settings`.
    ///
    /// # Errors
    ///
    /// There is no such device, or packets are not forwarded between these devices, so that no rule
    /// would ever match.
    pub fn new(settings: &Settings, queues: impl Iterator<Item = (Toward, u16)>) -> Result<Self> {
        let led = queues.filter_map(|(toward, queue)| {
            Some(QueueRule {
                to_mobile: toward == Toward::Mobile,
                pure_acks: settings.chain.sees(toward)? == Segments::PureAcks,
                queue,
            })
        });
        let (mobile, wired) = (&settings.mobile, &settings.wired);
        let [of_mobile, of_wired] = [bridge::of_port(mobile)?, bridge::of_port(wired)?];
        if of_mobile != of_wired {
            let (key, device, bridge) = match (of_mobile, of_wired) {
                (Some(bridge), _) => ("mobile", mobile, bridge),
                (_, bridge) => ("wired", wired, bridge.unwrap_or_default()),
            };
            return Err(Error::new(format!(
                "{key} = {device:?}: it is a port of the bridge {bridge}, and the other device is \
                 none of its ports: expected --{key} {bridge}, to which packets are forwarded"
            )));
        }
        Ok(Self {
            mobile: mobile.clone(),
            wired: wired.clone(),
            is_bridged: of_mobile.is_some(),
            led: led.collect(),
        })
    }
}

impl Rules {
    /// Writes the rules, replacing those written by `before` for a gateway running on the same
    /// devices.
    ///
    /// # Errors
    ///
    /// No writer succeeds; includes each one's message.
    pub fn write(wanted: Steering, by: RulesBy, before: Option<Writer>) -> Result<Self> {
        let all = [
            Writer::Netlink,
            Writer::NetlinkXtables,
            Writer::Iptables,
            Writer::IptablesLegacy,
        ];
        // Only the earlier writer: a removed hook makes the kernel drop queued packets.
        let earlier = before.filter(|before| all.contains(before));
        let writers: &[Writer] = match by {
            RulesBy::Auto => earlier.as_ref().map_or(&all[..], std::slice::from_ref),
            RulesBy::Netlink => &all[..2],
            RulesBy::Nft => &[Writer::Nft],
            RulesBy::Iptables => &[Writer::Iptables],
            RulesBy::IptablesLegacy => &[Writer::IptablesLegacy],
            RulesBy::None => &[Writer::Nobody],
        };
        let mut said = Vec::new();
        for &writer in writers {
            let rules = Self {
                writer,
                wanted: wanted.clone(),
            };
            match rules.write_again() {
                Ok(()) => return Ok(rules),
                Err(error) => said.push(error.to_string()),
            }
        }
        Err(Error::new(format!(
            "no rule leads packets into a queue here: {}",
            said.join("; ")
        ))
        .remedied_by(
            "the kernel needs NFT_QUEUE (OpenWrt: kmod-nft-queue), or NETFILTER_XT_TARGET_NFQUEUE \
             with NFT_COMPAT or with the program iptables; without all of them take --inline",
        ))
    }

    /// Rewrites them atomically.
    ///
    /// # Errors
    /// The program refuses them.
    pub fn write_again(&self) -> Result<()> {
        match self.writer {
            Writer::Netlink => netlink::write(&self.wanted, QueueBy::NfTables),
            Writer::NetlinkXtables => netlink::write(&self.wanted, QueueBy::Xtables),
            Writer::Nft => nft::write(&self.wanted),
            Writer::Iptables => iptables::write(&self.wanted, iptables::Kind::Current),
            Writer::IptablesLegacy => iptables::write(&self.wanted, iptables::Kind::Legacy),
            Writer::Nobody => Ok(()),
        }
    }

    /// Whether they are still installed, and steer into these queues.
    pub fn stand(&self) -> bool {
        match self.writer {
            Writer::Netlink => netlink::stands(&self.wanted, QueueBy::NfTables),
            Writer::NetlinkXtables => netlink::stands(&self.wanted, QueueBy::Xtables),
            Writer::Nft => nft::stands(&self.wanted),
            Writer::Iptables => iptables::stands(&self.wanted, iptables::Kind::Current),
            Writer::IptablesLegacy => iptables::stands(&self.wanted, iptables::Kind::Legacy),
            Writer::Nobody => true,
        }
    }

    /// Stops steering packets into the queue without dropping queued ones: a hook that would drop
    /// them stays until [`remove`](Self::remove).
    pub fn close(&self) {
        match self.writer {
            Writer::Netlink => netlink::close(&self.wanted, QueueBy::NfTables),
            Writer::NetlinkXtables => netlink::close(&self.wanted, QueueBy::Xtables),
            Writer::Nft => nft::close(&self.wanted),
            // The hooks of iptables are permanent.
            Writer::Iptables | Writer::IptablesLegacy => self.remove(),
            Writer::Nobody => {}
        }
    }

    /// Removes only these rules. Missing rules are no error.
    pub fn remove(&self) {
        match self.writer {
            Writer::Netlink => netlink::remove(&self.wanted, QueueBy::NfTables),
            Writer::NetlinkXtables => netlink::remove(&self.wanted, QueueBy::Xtables),
            Writer::Nft => nft::remove(&self.wanted),
            Writer::Iptables => iptables::remove(&self.wanted, iptables::Kind::Current),
            Writer::IptablesLegacy => iptables::remove(&self.wanted, iptables::Kind::Legacy),
            Writer::Nobody => {}
        }
    }

    /// The writer of the rules.
    pub const fn writer(&self) -> &'static str {
        self.writer.name()
    }
}

impl Writer {
    /// Its name in reports.
    const fn name(self) -> &'static str {
        match self {
            Self::Netlink => "netlink",
            Self::NetlinkXtables => "netlink (xtables)",
            Self::Nft => "nft",
            Self::Iptables => "iptables",
            Self::IptablesLegacy => "iptables-legacy",
            Self::Nobody => "the operator",
        }
    }

    /// The writer of that name.
    pub fn named(name: &str) -> Option<Self> {
        let all = [
            Self::Netlink,
            Self::NetlinkXtables,
            Self::Nft,
            Self::Iptables,
            Self::IptablesLegacy,
            Self::Nobody,
        ];
        all.into_iter().find(|writer| writer.name() == name)
    }
}

/// Runs a program for rules, with `input` on its standard input. Returns its output.
fn run(program: &str, arguments: &[&str], input: &str) -> Result<String> {
    let failed = |cause: std::io::Error| Error::system(format!("cannot run {program}"), cause);
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    if let Some(mut pipe) = child.stdin.take() {
        // A program that does not read everything reports an error by its status.
        let _ = pipe.write_all(input.as_bytes());
    }
    let output = child.wait_with_output().map_err(failed)?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let first = said
        .lines()
        .find(|line| !line.trim().is_empty())
        .unwrap_or("it failed");
    Err(Error::new(format!("{program}: {}", first.trim())))
}
