//! Rules of iptables and ip6tables: a chain in the table `mangle`, and one jump to it.

use std::fmt::Write as _;
use std::path::Path;

use airtcp_host::error::{Error, Result};

use super::{QueueRule, Steering, run};
use crate::packets::filter::{Segments, Version, bytecode, program};

/// The kind of iptables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The one with the plain name on this system.
    Current,
    /// The legacy one.
    Legacy,
}

const fn names(kind: Kind, version: Version) -> (&'static str, &'static str) {
    match (kind, version) {
        (Kind::Current, Version::V4) => ("iptables", "iptables-restore"),
        (Kind::Current, Version::V6) => ("ip6tables", "ip6tables-restore"),
        (Kind::Legacy, Version::V4) => ("iptables-legacy", "iptables-legacy-restore"),
        (Kind::Legacy, Version::V6) => ("ip6tables-legacy", "ip6tables-legacy-restore"),
    }
}

/// The match for packets without payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Match {
    /// Exactly, by a program (xt_bpf).
    Program,
    /// By length (xt_length): short data packets are queued too, and pass there.
    Length,
}

/// The versions of IP that this kernel supports.
fn versions() -> impl Iterator<Item = Version> {
    let speaks_ipv6 = Path::new("/proc/net/if_inet6").exists();
    Version::BOTH
        .into_iter()
        .filter(move |&version| version == Version::V4 || speaks_ipv6)
}

/// The chain's name: at most 28 letters, with 15 for a device's name.
fn chain(wanted: &Steering) -> String {
    format!("airtcp-{}", wanted.mobile)
}

pub(super) fn write(wanted: &Steering, kind: Kind) -> Result<()> {
    check_bridge(wanted)?;
    let mut failed = None;
    for by in [Match::Program, Match::Length] {
        let written = versions().try_for_each(|version| write_version(wanted, kind, version, by));
        match written {
            Ok(()) => return Ok(()),
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    // Removes rules already accepted for the other version.
    remove(wanted, kind);
    Err(failed.unwrap_or_else(|| Error::new("iptables takes no rules")))
}

fn write_version(wanted: &Steering, kind: Kind, version: Version, by: Match) -> Result<()> {
    let (program, restore) = names(kind, version);
    run(
        restore,
        &["--noflush", "--wait=5"],
        &text(wanted, version, by),
    )
    .or_else(|_| run(restore, &["--noflush"], &text(wanted, version, by)))?;
    let chain = chain(wanted);
    let jump = ["FORWARD", "-j", chain.as_str()];
    let with = |action: &'static str| {
        let mut words = vec!["-w", "5", "-t", "mangle", action];
        words.extend(jump);
        words
    };
    if run(program, &with("-C"), "").is_err() {
        run(program, &with("-I"), "")?;
    }
    Ok(())
}

/// The chain in the syntax of iptables-restore, which replaces its earlier contents atomically.
fn text(wanted: &Steering, version: Version, by: Match) -> String {
    let chain = chain(wanted);
    let mut text = format!("*mangle\n:{chain} - [0:0]\n");
    for led in &wanted.led {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "-A {chain} {} -p tcp {} -j NFQUEUE --queue-num {} --queue-bypass",
            devices(wanted, *led),
            words(led.segments(), version, by),
            led.queue,
        );
    }
    text.push_str("COMMIT\n");
    text
}

fn devices(wanted: &Steering, led: QueueRule) -> String {
    let (from, to) = if led.to_mobile {
        (&wanted.wired, &wanted.mobile)
    } else {
        (&wanted.mobile, &wanted.wired)
    };
    if wanted.is_bridged {
        format!("-m physdev --physdev-is-bridged --physdev-in {from} --physdev-out {to}")
    } else {
        format!("-i {from} -o {to}")
    }
}

fn words(segments: Segments, version: Version, by: Match) -> String {
    match by {
        Match::Program => {
            format!(
                "-m bpf --bytecode \"{}\"",
                bytecode(&program(segments, version))
            )
        }
        Match::Length => {
            let flags = "-m tcp --tcp-flags SYN,FIN,RST,ACK ACK";
            // IP header, TCP header, and at most 40 bytes of options.
            match (segments, version) {
                (Segments::All, _) => flags.to_owned(),
                (Segments::PureAcks, Version::V4) => format!("{flags} -m length --length 40:80"),
                (Segments::PureAcks, Version::V6) => format!("{flags} -m length --length 60:100"),
            }
        }
    }
}

/// Bridged packets only reach iptables if the bridge is so configured.
fn check_bridge(wanted: &Steering) -> Result<()> {
    let setting = Path::new("/proc/sys/net/bridge/bridge-nf-call-iptables");
    let is_on = std::fs::read_to_string(setting).is_ok_and(|text| text.trim() == "1");
    if wanted.is_bridged && !is_on {
        return Err(Error::new(format!(
            "iptables: {} and {} are ports of a bridge, whose packets do not come to it",
            wanted.mobile, wanted.wired
        ))
        .remedied_by(
            "sysctl -w net.bridge.bridge-nf-call-iptables=1 net.bridge.bridge-nf-call-ip6tables=1 \
             (module br_netfilter), or take nft, or --inline",
        ));
    }
    Ok(())
}

pub(super) fn stands(wanted: &Steering, kind: Kind) -> bool {
    let chain = chain(wanted);
    versions().all(|version| {
        let (program, _) = names(kind, version);
        let jump = ["-w", "5", "-t", "mangle", "-C", "FORWARD", "-j", &chain];
        let list = ["-w", "5", "-t", "mangle", "-S", &chain];
        let leads = |listed: &str| {
            wanted.led.iter().all(|led| {
                let words = format!("--queue-num {} ", led.queue);
                listed.contains(&words)
            })
        };
        run(program, &jump, "").is_ok()
            && run(program, &list, "").is_ok_and(|listed| leads(&listed))
    })
}

pub(super) fn remove(wanted: &Steering, kind: Kind) {
    let chain = chain(wanted);
    for version in versions() {
        let (program, _) = names(kind, version);
        for words in [
            &["-D", "FORWARD", "-j", chain.as_str()][..],
            &["-F", &chain],
            &["-X", &chain],
        ] {
            let mut all = vec!["-w", "5", "-t", "mangle"];
            all.extend(words);
            // Missing rules are no error.
            let _ = run(program, &all, "");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(is_bridged: bool) -> Steering {
        let led = |to_mobile, queue| QueueRule {
            to_mobile,
            pure_acks: true,
            queue,
        };
        Steering {
            mobile: "wlan0".to_owned(),
            wired: "eth0".to_owned(),
            is_bridged,
            led: vec![led(true, 7), led(false, 8)],
        }
    }

    #[test]
    fn a_chain_has_a_rule_a_direction_and_passes_by() {
        let text = text(&wanted(false), Version::V4, Match::Length);
        assert_eq!(
            text,
            "*mangle\n:airtcp-wlan0 - [0:0]\n\
             -A airtcp-wlan0 -i eth0 -o wlan0 -p tcp -m tcp --tcp-flags SYN,FIN,RST,ACK ACK \
             -m length --length 40:80 -j NFQUEUE --queue-num 7 --queue-bypass\n\
             -A airtcp-wlan0 -i wlan0 -o eth0 -p tcp -m tcp --tcp-flags SYN,FIN,RST,ACK ACK \
             -m length --length 40:80 -j NFQUEUE --queue-num 8 --queue-bypass\nCOMMIT\n"
        );
    }

    #[test]
    fn ports_of_a_bridge_are_named_as_such() {
        let text = text(&wanted(true), Version::V6, Match::Program);
        assert!(
            text.contains("--physdev-in eth0 --physdev-out wlan0"),
            "{text}"
        );
        assert!(text.contains("--bytecode \""), "{text}");
    }
}
