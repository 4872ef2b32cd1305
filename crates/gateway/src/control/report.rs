//! A gateway's report: for `status`, at its end, and for Prometheus.

use std::fmt;

use serde::Serialize;

use crate::agents::counts::Counts;
use crate::meter::{ByStation, Differences, Evidence, GroupNumbers};
use crate::observe::forecast::Expected;
use airtcp_host::daemon::metrics::Page;
use airtcp_host::daemon::status::Status;
use airtcp_host::difference::Difference;

/// The full report.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Its process number.
    pub process: u32,
    /// The agents with their parameters.
    pub agents: Vec<String>,
    /// The device towards the mobiles.
    pub mobile: String,
    /// The device towards the wired network.
    pub wired: String,
    /// The share of connections that are treated; `None` if packets are only observed.
    pub share: Option<f64>,
    /// The datapath: `look`, `queue` or `inline`.
    #[serde(rename = "course")]
    pub datapath: &'static str,
    /// The writer of its rules.
    pub rules: Option<&'static str>,
    /// The numbers of its queues.
    pub queues: Vec<u16>,
    /// Its running time.
    pub seconds: f64,
    /// TCP packets and bytes that passed the device towards the mobiles.
    pub packets: u64,
    /// See `packets`.
    pub bytes: u64,
    /// Packets not seen by the tap, because too many passed at once.
    pub unseen: u64,
    /// Number of tracked connections.
    pub connections: usize,
    /// Number of candidates without acknowledged data: young connections, and forged packets.
    pub candidates: usize,
    /// Number of packets held now.
    pub holding: usize,
    /// Counters of the agents' actions, real or hypothetical.
    pub did: Counts,
    /// Packets that reached the agents but could not be parsed: they passed.
    pub unread: u64,
    /// Lateness of held packets at their release, in microseconds: median, 99th percentile,
    /// maximum.
    pub late_us: [f64; 3],
    /// Number of times the rules had to be rewritten.
    pub rules_rewritten: u64,
    /// Offloads that bypass all rules, and how to exempt connections from them.
    pub offloads: Vec<String>,
    /// Number of offloaded connections, if the kernel lists them.
    pub offloaded: Option<usize>,
    /// Number of times the configuration was reloaded.
    pub reloads: u64,
    /// The control group.
    pub control: GroupNumbers,
    /// The treated connections.
    pub treated: GroupNumbers,
    /// The differences between the groups, with a connection as their unit.
    pub difference: Differences,
    /// The differences between the groups, with a station as their unit.
    pub difference_by_station: ByStation,
    /// The evidence that the treated are slower.
    pub worse: Evidence,
    /// Whether the gateway ends when the evidence suffices.
    pub stops_if_worse: bool,
    /// Number of failed attempts on the radio, if agents need them.
    pub failed_attempts: Option<u64>,
    /// The forecast of the mobiles' timeouts; only while packets are only observed.
    pub expected: Option<Expected>,
}

/// The order of a successor: to hold no new packets, release the held ones, and end.
pub const DRAIN: &str = "drain";

impl Status for Report {
    fn document(&self) -> String {
        serde_json::json!({ "report": self, "text": self.to_string() }).to_string()
    }

    fn prometheus(&self) -> String {
        let labels = [("mobile", &*self.mobile), ("wired", &*self.wired)];
        let mut page = Page::new("airtcp_gateway", &labels);
        let did = &self.did;
        let share = self.share.unwrap_or(0.0);
        page.gauge(
            "treated_share",
            "Share of connections that are treated.",
            share,
        );
        page.gauge("uptime_seconds", "For how long it has run.", self.seconds);
        let counters = [
            (
                "packets",
                "TCP packets at the mobiles' device.",
                self.packets,
            ),
            ("bytes", "Their bytes.", self.bytes),
            ("unseen", "Packets that were not seen there.", self.unseen),
            ("unread", "Packets that no agent could read.", self.unread),
            ("delayed", "Packets that agents delayed.", did.delayed),
            ("spikes", "Delay spikes.", did.spikes),
            (
                "cut_by_limit",
                "Holds that ended at a bound.",
                did.cut_by_limit,
            ),
            (
                "cut_by_budget",
                "Holds that ended with a budget.",
                did.cut_by_budget,
            ),
            ("dropped", "Packets that agents kept back.", did.dropped),
            ("repeated", "Packets that agents repeated.", did.repeated),
            (
                "rules_rewritten",
                "Rules that were gone.",
                self.rules_rewritten,
            ),
            ("reloads", "Configurations read again.", self.reloads),
        ];
        for (name, help, value) in counters {
            page.counter(name, help, value);
        }
        let held = did.held_ns as f64 / 1e9;
        page.counter("held_seconds", "How long packets were held.", held);
        page.gauge("connections", "Connections known.", self.connections);
        page.gauge("holding", "Packets held now.", self.holding);
        for (group, numbers) in [("control", &self.control), ("treated", &self.treated)] {
            for (name, value) in [
                ("stations", numbers.stations as f64),
                ("bytes", numbers.bytes as f64),
                ("goodput_bps", numbers.goodput_bps.unwrap_or(0.0)),
                (
                    "goodput_by_bytes_bps",
                    numbers.goodput_by_bytes_bps.unwrap_or(0.0),
                ),
                ("round_trip_ms", numbers.round_trip_ms.unwrap_or(0.0)),
                ("segments", numbers.segments as f64),
                ("retransmissions", numbers.retransmissions as f64),
                ("dsacks", numbers.dsacks as f64),
            ] {
                let help = "Of a group's connections.";
                page.gauge(&format!("{group}_{name}"), help, value);
            }
        }
        page.into_text()
    }
}

impl Report {
    /// The evidence that the treated are slower, if the gateway ends by it.
    fn evidence(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.stops_if_worse {
            return Ok(());
        }
        let Evidence {
            wealth,
            enough,
            bets,
        } = self.worse;
        let word = if self.worse.is_enough() {
            "the treated are slower, with 95 %: it ends"
        } else {
            "it ends at"
        };
        let end = if self.worse.is_enough() {
            String::new()
        } else {
            format!(" {enough:.0}")
        };
        writeln!(
            f,
            "  evidence that the treated are slower: {wealth:.2}, from {bets} bets; {word}{end}"
        )
    }

    fn agents_line(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let treats = match self.share {
            None => "only looks".to_owned(),
            Some(share) => format!("treats {:.0} % of the connections", share * 100.0),
        };
        writeln!(
            f,
            "{} between {} and {} (process {}): {treats}, for {:.0} s",
            self.agents.join("+"),
            self.mobile,
            self.wired,
            self.process,
            self.seconds
        )
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.agents_line(f)?;
        let did = &self.did;
        writeln!(
            f,
            "  {} TCP packets, {} not observed; {} connections, and {} without acknowledged data",
            self.packets, self.unseen, self.connections, self.candidates
        )?;
        let would = if self.share.is_none() {
            "would have "
        } else {
            ""
        };
        writeln!(
            f,
            "  {would}delayed {} packets by {:.2} ms on average, {:.1} ms at most ({} delay \
             spikes); {} holds ended at a bound, {} with their budget, {} had no round trip yet",
            did.delayed,
            did.mean_hold_ms(),
            did.longest_ns as f64 / 1e6,
            did.spikes,
            did.cut_by_limit,
            did.cut_by_budget,
            did.cut_unmeasured
        )?;
        if did.dropped + did.repeated + did.changed + did.prioritised + did.notified > 0 {
            writeln!(
                f,
                "  {would}kept back {} acknowledgments, repeated {} packets, changed {}, gave {} \
                 a priority, noticed {} bad states",
                did.dropped, did.repeated, did.changed, did.prioritised, did.notified
            )?;
        }
        for offload in &self.offloads {
            writeln!(f, "  {offload}")?;
        }
        if let Some(offloaded) = self.offloaded {
            writeln!(f, "  {offloaded} connections are offloaded now")?;
        }
        if let Some(failed) = self.failed_attempts {
            writeln!(f, "  {failed} attempts on the radio have failed")?;
        }
        if let Some(expected) = self.expected {
            writeln!(
                f,
                "  timeouts expected of the mobiles: {} as it is, {} with the agents, in {} \
                 acknowledgments",
                expected.timeouts_now, expected.timeouts_with, expected.acknowledgments
            )?;
        } else {
            group(f, "treated", &self.treated)?;
            group(f, "control", &self.control)?;
            differences(f, "by connection", &self.difference)?;
            let by_station = &self.difference_by_station;
            let unit = if by_station.is_within {
                format!("within {} stations", by_station.paired)
            } else {
                "between stations".to_owned()
            };
            differences(f, &unit, &by_station.difference)?;
            self.evidence(f)?;
        }
        Ok(())
    }
}

fn group(f: &mut fmt::Formatter<'_>, name: &str, group: &GroupNumbers) -> fmt::Result {
    let number = |value: Option<f64>, scale: f64| {
        value.map_or("-".to_owned(), |value| format!("{:.2}", value / scale))
    };
    writeln!(
        f,
        "  {name}: {} connections of {} stations, {} Mbit/s geometric mean per connection, \
         {} Mbit/s weighted by bytes; {:.2} MB, {:.0} % of the bytes; {} ms, {} of {} segments \
         retransmitted, {} DSACKs",
        group.connections,
        group.stations,
        number(group.goodput_bps, 1e6),
        number(group.goodput_by_bytes_bps, 1e6),
        group.bytes as f64 / 1e6,
        group.share_of_bytes.unwrap_or(0.0) * 100.0,
        number(group.round_trip_ms, 1.0),
        group.retransmissions,
        group.segments,
        group.dsacks
    )
}

fn differences(f: &mut fmt::Formatter<'_>, by: &str, all: &Differences) -> fmt::Result {
    let rows = [
        ("goodput", "%", 100.0, all.goodput),
        ("round trip", "ms", 1.0, all.round_trip_ms),
        (
            "retransmissions",
            "in 1000",
            1.0,
            all.retransmissions_per_1000,
        ),
        ("DSACKs", "in 1000", 1.0, all.dsacks_per_1000),
    ];
    for (name, unit, scale, row) in rows {
        let Some(found) = row else {
            continue;
        };
        let shown = if found.is_shown() {
            ""
        } else {
            ": no difference shown"
        };
        let Difference {
            difference,
            low,
            high,
        } = found;
        writeln!(
            f,
            "  {name} of the treated, {by}: {:+.2} {unit} ({:+.2} to {:+.2}, 95 %){shown}",
            difference * scale,
            low * scale,
            high * scale
        )?;
    }
    Ok(())
}
