//! The rules that lead packets into the queue: in a chain or table of their own, written in one
//! step, replaced in one step, and removed at the end.
//!
//! What works is found by trying: the first program that takes the rules has them. Each passes
//! packets by when nobody serves the queue (`bypass`), and none names SYN, FIN, RST or anything but
//! TCP.

mod iptables;
mod nft;

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use airtcp_link::agent::Toward;
use serde::{Deserialize, Serialize};

use super::configuration::{RulesBy, Settings};
use super::filter::Segments;
use crate::error::{Error, Result};

/// Packets of one direction that are led into a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Led {
    /// Whether they go to the mobiles.
    pub to_mobile: bool,
    /// Whether only those without payload do.
    pub pure_acks: bool,
    /// The queue.
    pub queue: u16,
}

impl Led {
    fn segments(self) -> Segments {
        if self.pure_acks {
            Segments::PureAcks
        } else {
            Segments::All
        }
    }
}

/// What is to be led where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wanted {
    /// The device towards the mobiles.
    pub mobile: String,
    /// The device towards the wired network.
    pub wired: String,
    /// Whether both belong to one bridge.
    pub is_bridged: bool,
    /// Which packets, by direction.
    pub led: Vec<Led>,
}

/// A program that writes rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Writer {
    /// nft(8).
    Nft,
    /// iptables(8) and ip6tables(8), whatever they stand for.
    Iptables,
    /// Those of the old kind.
    IptablesLegacy,
    /// Nobody: the operator has written the rules.
    Nobody,
}

/// Rules that stand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rules {
    writer: Writer,
    wanted: Wanted,
}

impl Wanted {
    /// What the agents of `settings` need led into the queues of these numbers.
    pub fn new(settings: &Settings, queues: impl Iterator<Item = (Toward, u16)>) -> Self {
        let led = queues.filter_map(|(toward, queue)| {
            Some(Led {
                to_mobile: toward == Toward::Mobile,
                pure_acks: settings.chain.sees(toward)? == Segments::PureAcks,
                queue,
            })
        });
        let is_port = |device: &str| {
            Path::new("/sys/class/net")
                .join(device)
                .join("brport")
                .exists()
        };
        Self {
            mobile: settings.mobile.clone(),
            wired: settings.wired.clone(),
            is_bridged: is_port(&settings.mobile) && is_port(&settings.wired),
            led: led.collect(),
        }
    }
}

impl Rules {
    /// Writes the rules, in place of those of a gateway that runs on the same devices.
    ///
    /// # Errors
    /// No program here takes them; says what each said.
    pub fn write(wanted: Wanted, by: RulesBy) -> Result<Self> {
        let writers: &[Writer] = match by {
            RulesBy::Auto => &[Writer::Nft, Writer::Iptables, Writer::IptablesLegacy],
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
            "the kernel needs NFT_QUEUE, or NETFILTER_XT_TARGET_NFQUEUE with iptables (OpenWrt: \
             kmod-nft-queue); without either take --inline",
        ))
    }

    /// Writes them again, all in one step: nothing is half there.
    ///
    /// # Errors
    /// The program refuses them.
    pub fn write_again(&self) -> Result<()> {
        match self.writer {
            Writer::Nft => nft::write(&self.wanted),
            Writer::Iptables => iptables::write(&self.wanted, iptables::Kind::Current),
            Writer::IptablesLegacy => iptables::write(&self.wanted, iptables::Kind::Legacy),
            Writer::Nobody => Ok(()),
        }
    }

    /// Whether they still stand, and lead into these queues.
    pub fn stand(&self) -> bool {
        match self.writer {
            Writer::Nft => nft::stands(&self.wanted),
            Writer::Iptables => iptables::stands(&self.wanted, iptables::Kind::Current),
            Writer::IptablesLegacy => iptables::stands(&self.wanted, iptables::Kind::Legacy),
            Writer::Nobody => true,
        }
    }

    /// Removes them, and nothing else. What is not there is no error.
    pub fn remove(&self) {
        match self.writer {
            Writer::Nft => nft::remove(&self.wanted),
            Writer::Iptables => iptables::remove(&self.wanted, iptables::Kind::Current),
            Writer::IptablesLegacy => iptables::remove(&self.wanted, iptables::Kind::Legacy),
            Writer::Nobody => {}
        }
    }

    /// Which program has written them.
    pub const fn writer(&self) -> &'static str {
        match self.writer {
            Writer::Nft => "nft",
            Writer::Iptables => "iptables",
            Writer::IptablesLegacy => "iptables-legacy",
            Writer::Nobody => "the operator",
        }
    }
}

/// Runs a program that writes rules with a text on its standard input. Returns what it printed.
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
        // A program that does not want it all says so by its status.
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
