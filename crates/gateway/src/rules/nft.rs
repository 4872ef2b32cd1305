//! Rules of nft: in a separate table, which a reloaded firewall does not touch.

use std::fmt::Write as _;

use airtcp_host::error::Result;

use super::{QueueRule, Steering, run};
use crate::packets::filter::Segments;

/// The table's family and name. Characters that are special to nft are encoded.
fn table(wanted: &Steering) -> String {
    let family = if wanted.is_bridged { "bridge" } else { "inet" };
    let device: String = wanted
        .mobile
        .chars()
        .map(|letter| {
            if letter.is_ascii_alphanumeric() {
                letter
            } else {
                '_'
            }
        })
        .collect();
    format!("{family} airtcp_{device}")
}

pub(super) fn write(wanted: &Steering) -> Result<()> {
    run("nft", &["-f", "-"], &text(wanted)).map(drop)
}

/// The table, with its rules replacing those of the same name, in one transaction. An earlier
/// gateway's chain stays: when a hook is removed, the kernel drops every queued packet of the
/// namespace (nf_queue_nf_hook_drop).
fn text(wanted: &Steering) -> String {
    let table = table(wanted);
    let mut text = format!(
        "add table {table}\nadd chain {table} forward {{ type filter hook forward priority -150; \
         policy accept; }}\nflush chain {table} forward\n"
    );
    for led in &wanted.led {
        for condition in conditions(led.segments()) {
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "add rule {table} forward {} tcp flags & (fin | syn | rst | ack) == ack \
                 {condition}queue num {} bypass",
                devices(wanted, *led),
                led.queue
            );
        }
    }
    text
}

fn devices(wanted: &Steering, led: QueueRule) -> String {
    let (from, to) = if led.to_mobile {
        (&wanted.wired, &wanted.mobile)
    } else {
        (&wanted.mobile, &wanted.wired)
    };
    format!("iifname \"{from}\" oifname \"{to}\"")
}

/// Alternative conditions: for packets without payload, that the headers' lengths add up to the
/// packet's, separately for IPv4 without options and for IPv6.
fn conditions(segments: Segments) -> Vec<String> {
    match segments {
        Segments::All => vec![String::new()],
        Segments::PureAcks => {
            let lengths = |ip: u32| {
                let pairs: Vec<_> = (5..=15)
                    .map(|words: u32| format!("{words} . {}", ip + 4 * words))
                    .collect();
                pairs.join(", ")
            };
            vec![
                format!("ip hdrlength 5 tcp doff . ip length {{ {} }} ", lengths(20)),
                format!("tcp doff . ip6 length {{ {} }} ", lengths(0)),
            ]
        }
    }
}

/// Some versions of nft cannot list rules on headers' lengths: the table's existence must suffice.
pub(super) fn stands(wanted: &Steering) -> bool {
    let line = format!("table {}", table(wanted));
    run("nft", &["list", "tables"], "")
        .is_ok_and(|listed| listed.lines().any(|one| one.trim() == line))
}

pub(super) fn close(wanted: &Steering) {
    let flush = format!("flush chain {} forward\n", table(wanted));
    let _ = run("nft", &["-f", "-"], &flush);
}

pub(super) fn remove(wanted: &Steering) {
    let _ = run(
        "nft",
        &["-f", "-"],
        &format!("delete table {}\n", table(wanted)),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_replaces_itself_and_passes_by() {
        let wanted = Steering {
            mobile: "wlan0.5".to_owned(),
            wired: "eth0".to_owned(),
            is_bridged: false,
            led: vec![QueueRule {
                to_mobile: true,
                pure_acks: true,
                queue: 7,
            }],
        };
        let text = text(&wanted);
        assert!(
            text.starts_with(
                "add table inet airtcp_wlan0_5\nadd chain inet airtcp_wlan0_5 forward {"
            ),
            "{text}"
        );
        // Deleting a table removes its hook, and that drops every queued packet.
        assert!(!text.contains("delete"), "{text}");
        assert!(text.contains("5 . 40, 6 . 44, 7 . 48"), "{text}");
        assert!(
            text.contains("tcp doff . ip6 length { 5 . 20, 6 . 24"),
            "{text}"
        );
        assert_eq!(text.matches("queue num 7 bypass").count(), 2);
    }
}
