//! The rules that steer packets into the queue: in separate tables of nf_tables, written and
//! replaced atomically by netlink, and removed at the end.
//!
//! The rules let packets pass if no program serves the queue (`bypass`), and match only TCP,
//! without SYN, FIN and RST.

pub mod offload;
mod table;

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

/// Installed rules.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rules {
    /// `None` if the operator has written them.
    queue_by: Option<QueueBy>,
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
    /// Writes the rules. They replace the rules of a gateway running on the same devices, which
    /// queue packets by `before`.
    ///
    /// # Errors
    ///
    /// The kernel cannot queue packets by nf_tables; includes its answer to each attempt.
    pub fn write(wanted: Steering, by: RulesBy, before: Option<QueueBy>) -> Result<Self> {
        if by == RulesBy::None {
            return Ok(Self {
                queue_by: None,
                wanted,
            });
        }
        // Only the earlier kind: a removed hook makes the kernel drop queued packets.
        let kinds = before
            .as_ref()
            .map_or(&QueueBy::ALL[..], std::slice::from_ref);
        let mut refusals = Vec::new();
        for &queue_by in kinds {
            match table::write(&wanted, queue_by) {
                Ok(()) => {
                    return Ok(Self {
                        queue_by: Some(queue_by),
                        wanted,
                    });
                }
                Err(error) => refusals.push(error.to_string()),
            }
        }
        Err(Error::new(format!(
            "no rule leads packets into a queue here: {}",
            refusals.join("; ")
        ))
        .remedied_by(
            "the kernel needs nf_tables with NFT_QUEUE (OpenWrt: kmod-nft-queue), or with \
             NFT_COMPAT and NETFILTER_XT_TARGET_NFQUEUE; without them take --inline",
        ))
    }

    /// Rewrites them atomically.
    ///
    /// # Errors
    /// The kernel refuses them.
    pub fn write_again(&self) -> Result<()> {
        self.queue_by
            .map_or(Ok(()), |by| table::write(&self.wanted, by))
    }

    /// Whether they are still installed, and steer into these queues.
    pub fn are_installed(&self) -> bool {
        self.queue_by
            .is_none_or(|by| table::is_installed(&self.wanted, by))
    }

    /// Stops steering packets into the queue without dropping queued ones: a hook that would drop
    /// them stays until [`remove`](Self::remove).
    pub fn close(&self) {
        if let Some(by) = self.queue_by {
            table::close(&self.wanted, by);
        }
    }

    /// Removes only these rules. Missing rules are no error.
    pub fn remove(&self) {
        if let Some(by) = self.queue_by {
            table::remove(&self.wanted, by);
        }
    }

    /// The writer of the rules, for reports.
    pub const fn writer(&self) -> &'static str {
        match self.queue_by {
            Some(QueueBy::NfTables) => NF_TABLES,
            Some(QueueBy::Xtables) => XTABLES,
            None => "the operator",
        }
    }
}

const NF_TABLES: &str = "netlink";
const XTABLES: &str = "netlink (xtables)";

/// How the rules of a report's [writer](Rules::writer) queue packets.
pub fn queue_by_of(writer: &str) -> Option<QueueBy> {
    match writer {
        NF_TABLES => Some(QueueBy::NfTables),
        XTABLES => Some(QueueBy::Xtables),
        _ => None,
    }
}
