//! The rules in nf_tables, without a program: in a separate table, which a reloaded firewall does
//! not touch.
//!
//! If the kernel lacks nf_tables' `queue`, the rules use the target NFQUEUE of xtables through
//! NFT_COMPAT.

use airtcp_host::error::{Error, Result};
use airtcp_host::nftables::{Batch, Expression, Family, Hook, Meta, QueueBy, list};

use super::{QueueRule, Steering};
use crate::packets::filter::Segments;

const CHAIN: &str = "forward";
/// NF_INET_FORWARD, equal to NF_BR_FORWARD, at the priority of mangling (NF_IP_PRI_MANGLE).
const FORWARD: Hook = Hook {
    kind: "filter",
    point: 2,
    priority: -150,
};
/// TCP's number in IP headers (RFC 9293 §3.1).
const TCP: u8 = 6;
/// FIN, SYN, RST and ACK; only the last may be set.
const OF_THE_CONNECTION: u8 = 0x17;
const ACK: u8 = 0x10;
/// IFNAMSIZ of `linux/if.h`.
const NAME_LENGTH: usize = 16;

/// The version of IP that a rule applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    V4,
    V6,
}

/// The families of the tables. xtables targets are specific to one IP version.
fn families(wanted: &Steering, by: QueueBy) -> &'static [Family] {
    match (wanted.is_bridged, by) {
        (true, _) => &[Family::Bridge],
        (false, QueueBy::NfTables) => &[Family::Both],
        (false, QueueBy::Xtables) => &[Family::V4, Family::V6],
    }
}

/// The table's name. Characters that are special to nft(8) are replaced.
fn table(wanted: &Steering) -> String {
    let plain = |letter: char| {
        if letter.is_ascii_alphanumeric() {
            letter
        } else {
            '_'
        }
    };
    let device: String = wanted.mobile.chars().map(plain).collect();
    format!("airtcp_{device}")
}

/// The comment of a rule, by which a gateway recognizes its rules.
fn note(led: QueueRule) -> String {
    format!("airtcp queue {}", led.queue)
}

pub(super) fn write(wanted: &Steering, by: QueueBy) -> Result<()> {
    for (done, &family) in families(wanted, by).iter().enumerate() {
        if let Err(cause) = batch(wanted, family, by).send() {
            // Removes rules already accepted for the other version.
            for &family in &families(wanted, by)[..done] {
                let _ = Batch::new(family).without_table(&table(wanted)).send();
            }
            let lacking = match by {
                QueueBy::NfTables => "nf_tables with queue",
                QueueBy::Xtables => "nf_tables with the xtables target NFQUEUE",
            };
            return Err(Error::system(format!("netlink: {lacking}"), cause));
        }
    }
    Ok(())
}

/// The table, with its rules replacing any of the same name, in one transaction. An earlier
/// gateway's chain stays: when a hook is removed, the kernel drops every queued packet of the
/// namespace (nf_queue_nf_hook_drop).
fn batch(wanted: &Steering, family: Family, by: QueueBy) -> Batch {
    let table = table(wanted);
    let mut batch = Batch::new(family)
        .table(&table)
        .chain(&table, CHAIN, FORWARD)
        .without_rules(&table, CHAIN);
    for &led in &wanted.led {
        for version in [Version::V4, Version::V6] {
            let Some(of_version) = of_version(family, version) else {
                continue;
            };
            let start = [devices(wanted, led), of_version].concat();
            for (steps, passes) in conditions(led.segments(), version) {
                let end = if passes {
                    Expression::accept()
                } else {
                    Expression::queue(by, led.queue)
                };
                let rule = [&start[..], &steps, &[end]].concat();
                batch = batch.noted_rule(&table, CHAIN, &rule, &note(led));
            }
        }
    }
    batch
}

fn devices(wanted: &Steering, led: QueueRule) -> Vec<Expression> {
    let (from, to) = if led.to_mobile {
        (&wanted.wired, &wanted.mobile)
    } else {
        (&wanted.mobile, &wanted.wired)
    };
    let name = |device: &str| {
        let mut padded = [0; NAME_LENGTH];
        for (place, byte) in padded.iter_mut().zip(device.bytes()) {
            *place = byte;
        }
        Expression::is(&padded)
    };
    vec![
        Expression::load(Meta::InputName),
        name(from),
        Expression::load(Meta::OutputName),
        name(to),
    ]
}

/// The expressions that match IP packets of this version in a table of this family, with TCP
/// directly after the header; `None` if the table has no such packets.
fn of_version(family: Family, version: Version) -> Option<Vec<Expression>> {
    let (ether_type, number, protocol_place) = match version {
        Version::V4 => (0x0800_u16, Family::V4 as u8, 9),
        Version::V6 => (0x86dd, Family::V6 as u8, 6),
    };
    let mut steps = match family {
        Family::Both => vec![Expression::load(Meta::Version), Expression::is(&[number])],
        Family::Bridge => vec![
            Expression::load(Meta::EtherType),
            Expression::is(&ether_type.to_be_bytes()),
        ],
        Family::V4 | Family::V6 if family as u8 == number => Vec::new(),
        Family::V4 | Family::V6 => return None,
    };
    steps.extend([
        Expression::network(protocol_place, 1),
        Expression::is(&[TCP]),
    ]);
    Some(steps)
}

/// The conditions of one rule each, and whether a matching packet passes instead of being queued. A
/// packet without payload is as long as its headers; longer ones leave at the first rule, so that
/// data is matched once rather than a dozen times.
fn conditions(segments: Segments, version: Version) -> Vec<(Vec<Expression>, bool)> {
    let mut flags = Expression::flags(OF_THE_CONNECTION).to_vec();
    flags.push(Expression::is(&[ACK]));
    if segments == Segments::All {
        return vec![(flags, false)];
    }
    let (length_place, ip) = match version {
        // In IPv4 the length includes the header, in IPv6 it does not.
        Version::V4 => (2, 20),
        Version::V6 => (4, 0),
    };
    let length = || Expression::network(length_place, 2);
    let longest: u16 = ip + 4 * 15;
    let longer = Expression::is_more_than(&longest.to_be_bytes());
    let mut all = vec![(vec![length(), longer], true)];
    for words in 5..=15_u8 {
        let bytes = ip + 4 * u16::from(words);
        let mut steps = vec![length(), Expression::is(&bytes.to_be_bytes())];
        if version == Version::V4 {
            // A header without options.
            steps.extend([Expression::network(0, 1), Expression::is(&[0x45])]);
        }
        steps.extend(Expression::transport_bits(12, 0xf0));
        steps.push(Expression::is(&[words << 4]));
        steps.extend(flags.clone());
        all.push((steps, false));
    }
    all
}

/// Whether this gateway's rules steer into these queues.
pub(super) fn is_installed(wanted: &Steering, by: QueueBy) -> bool {
    let table = table(wanted);
    families(wanted, by).iter().all(|&family| {
        list::notes(family, &table)
            .is_ok_and(|notes| wanted.led.iter().all(|&led| notes.contains(&note(led))))
    })
}

pub(super) fn close(wanted: &Steering, by: QueueBy) {
    for &family in families(wanted, by) {
        // Missing rules are no error.
        let _ = Batch::new(family)
            .without_rules(&table(wanted), CHAIN)
            .send();
    }
}

pub(super) fn remove(wanted: &Steering, by: QueueBy) {
    for &family in families(wanted, by) {
        let _ = Batch::new(family).without_table(&table(wanted)).send();
    }
}
