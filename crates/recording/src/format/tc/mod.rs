//! Links as `tc` sets them: `tc qdisc show`, with `-j` and `-s`, command lines, tables of netem.
//!
//! A root and the disciplines below it are one link of a device. Only egress is shaped: ingress is
//! shaped on a device such as `ifb0`.

mod command;
mod json;
mod table;

use super::{Fact, Format, Recording};
use crate::fault::{TraceError, TraceProblem};
use crate::recording::{Bound, Direction, Layer, Rates, Shaping};
use crate::source::{Source, lines};
use command::Command;

pub(super) const FORMAT: Format = Format {
    name: "tc",
    title: "tc's queueing disciplines, as shown (text, JSON) or as commands",
    knows: &[
        Fact::Direction,
        Fact::Rate,
        Fact::IdleDelay,
        Fact::Queue,
        Fact::Losses,
    ],
    by_lines: false,
    sniff: |bytes| json::is_list(bytes) || command::commands(bytes).next().is_some(),
    read,
};

pub(super) const TABLE: Format = table::FORMAT;

fn read(bytes: &[u8], source: Source<'_>) -> Result<Recording, TraceError> {
    let commands: Vec<Command> = if json::is_list(bytes) {
        json::commands(bytes, source)?
    } else {
        command::commands(bytes)
            .collect::<Result<_, _>>()
            .map_err(|fault| {
                // At the end of a line the line itself.
                let text = lines(bytes).nth(fault.line as usize - 1);
                let text = text.map_or(&b""[..], |(_, text)| text);
                let word = fault.unread.found.as_bytes();
                source.malformed(
                    fault.line,
                    if word.is_empty() { text } else { word },
                    fault.unread.expected,
                    "give the line as tc takes it",
                )
            })?
    };
    let mut devices: Vec<Shaping> = Vec::new();
    for command in commands {
        let place = devices.iter().position(|one| one.device == command.device);
        let place = place.unwrap_or_else(|| {
            devices.push(Shaping {
                device: command.device.clone(),
                ..Shaping::default()
            });
            devices.len() - 1
        });
        devices[place].merge(command);
    }
    devices.retain(|one| !one.is_bare());
    if devices.is_empty() {
        return Err(source.error(
            None,
            TraceProblem::OtherKind {
                what: "tc's list of queueing disciplines, none of which shapes or delays"
                    .to_owned(),
                remedy: "show the machine that emulates or shapes the link: tc -j qdisc show"
                    .to_owned(),
            },
        ));
    }
    let mut found = Recording::new(FORMAT.name, summary(&devices));
    for one in &devices {
        let direction = if one.device.starts_with("ifb") {
            Direction::Down
        } else if devices.len() > 1 && devices.iter().any(|one| one.device.starts_with("ifb")) {
            Direction::Up
        } else {
            Direction::Unknown
        };
        if let Some(rate) = one.rate {
            found.rates.push(Rates {
                direction,
                mean: rate,
                bound: Bound::Setting,
                layer: Layer::Packets,
                steps: Vec::new(),
            });
        }
        for word in &one.unread {
            found.remark(format!("\"{word}\"{} is not played.", on(&one.device)));
        }
    }
    found.origin.program = Some("tc".to_owned());
    found
        .remark("It is a setting, not a measurement: what the path adds to it is not in the file.");
    found.shaping = devices;
    Ok(found)
}

fn summary(devices: &[Shaping]) -> String {
    let each = devices
        .iter()
        .map(|one| format!("{}{}", one.disciplines.join(" and "), on(&one.device)));
    format!("a setting of tc ({})", each.collect::<Vec<_>>().join(", "))
}

/// " on DEVICE"; empty for a listing of one device, which tc prints without its name.
fn on(device: &str) -> String {
    if device.is_empty() {
        String::new()
    } else {
        format!(" on {device}")
    }
}

impl Shaping {
    /// Lays a further discipline of the device over those before it.
    fn merge(&mut self, command: Command) {
        let found = command.shaping;
        self.disciplines.push(command.kind);
        self.rate = [self.rate, found.rate].into_iter().flatten().min();
        self.delay = found.delay.or(self.delay);
        self.jitter = found.jitter.or(self.jitter);
        self.spread = found.spread.or(self.spread.take());
        self.losses = found.losses.or(self.losses);
        self.reorder = found.reorder.or(self.reorder);
        self.limit_packets = [self.limit_packets, found.limit_packets]
            .into_iter()
            .flatten()
            .min();
        self.limit_bytes = found.limit_bytes.or(self.limit_bytes);
        self.limit_delay = found.limit_delay.or(self.limit_delay);
        self.unread.extend(found.unread);
    }

    /// Whether nothing of it changes a packet's way.
    fn is_bare(&self) -> bool {
        self.rate.is_none() && self.delay.is_none() && self.losses.is_none()
    }
}
