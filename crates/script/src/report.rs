//! The expected and the sent segments of a script, side by side.

use std::fmt::Write;

use airtcp_packet::{Ecn, Flags, Segment};
use airtcp_units::Instant;

use crate::syntax::{Marking, Options, Packet};

/// Number of segments shown before a failure.
const BEFORE: usize = 12;

/// A segment in the script's notation.
pub fn of_segment(segment: &Segment) -> String {
    let mut text = of_marking(Marking::Is(segment.ecn), segment.ecn != Ecn::NotCapable);
    let _ = write!(
        text,
        "{} {}:{}({})",
        flags(segment.flags),
        segment.sequence.0,
        segment.sequence.0.wrapping_add(segment.payload_bytes),
        segment.payload_bytes
    );
    if segment.flags.contains(Flags::ACK) {
        let _ = write!(text, " ack {}", segment.acknowledgment.0);
    }
    let _ = write!(text, " win {}", segment.window);
    let options = Options {
        any: false,
        mss: segment.mss,
        window_scale: segment.window_scale,
        sack_permitted: segment.sack_permitted,
        timestamps: segment.timestamps.map(|stamps| (stamps.value, stamps.echo)),
        sack: segment.tail.blocks().to_vec(),
        fast_open: segment.fast_open(),
    };
    text + &of_options(&options)
}

/// A segment in the notation of scripts.
pub fn of_packet(packet: &Packet) -> String {
    let marking = packet.marking.unwrap_or(Marking::Is(Ecn::NotCapable));
    let mut text = of_marking(marking, packet.marking.is_some());
    let _ = write!(
        text,
        "{} {}:{}({})",
        flags(packet.flags),
        packet.start,
        packet.start.wrapping_add(packet.payload),
        packet.payload
    );
    if let Some(ack) = packet.ack {
        let _ = write!(text, " ack {ack}");
    }
    if let Some(window) = packet.window {
        let _ = write!(text, " win {window}");
    }
    text + &packet.options.as_ref().map_or_else(String::new, of_options)
}

/// The ECN field, if it is shown.
fn of_marking(marking: Marking, is_shown: bool) -> String {
    let name = match marking {
        _ if !is_shown => return String::new(),
        Marking::Is(Ecn::NotCapable) => "noecn",
        Marking::Is(Ecn::Capable0) => "ect0",
        Marking::Is(Ecn::Capable1) => "ect1",
        Marking::Is(Ecn::CongestionExperienced) => "ce",
        Marking::Capable => "ect01",
    };
    format!("[{name}] ")
}

fn of_options(options: &Options) -> String {
    let mut parts = Vec::new();
    if options.any {
        parts.push("...".to_owned());
    }
    if let Some(mss) = options.mss {
        parts.push(format!("mss {mss}"));
    }
    if options.sack_permitted {
        parts.push("sackOK".to_owned());
    }
    if let Some((value, echo)) = options.timestamps {
        parts.push(format!("TS val {value} ecr {echo}"));
    }
    if let Some(scale) = options.window_scale {
        parts.push(format!("wscale {scale}"));
    }
    if !options.sack.is_empty() {
        let blocks: Vec<_> = options
            .sack
            .iter()
            .map(|block| format!("{}:{}", block.start.0, block.end.0))
            .collect();
        parts.push(format!("sack {}", blocks.join(" ")));
    }
    if let Some(option) = options.fast_open {
        parts.push(format!("{option:?}"));
    }
    if parts.is_empty() {
        String::new()
    } else {
        format!(" <{}>", parts.join(","))
    }
}

fn flags(flags: Flags) -> String {
    let mut text = String::new();
    for (flag, letter) in [
        (Flags::SYN, 'S'),
        (Flags::FIN, 'F'),
        (Flags::RST, 'R'),
        (Flags::PSH, 'P'),
        (Flags::ECE, 'E'),
        (Flags::CWR, 'W'),
        (Flags::ACK, '.'),
    ] {
        if flags.contains(flag) {
            text.push(letter);
        }
    }
    if text.is_empty() {
        text.push('-');
    }
    text
}

/// Segments exchanged up to here.
#[derive(Clone, Debug, Default)]
pub struct Exchange(Vec<(Instant, char, String)>);

impl Exchange {
    /// Another segment: `<` arrives, `>` leaves.
    pub fn push(&mut self, at: Instant, direction: char, segment: &Segment) {
        self.0.push((at, direction, of_segment(segment)));
    }

    /// The last segments, then the expected and the sent one side by side.
    pub fn compare(&self, what: &str, expected: &str, sent: &str) -> String {
        let mut text = format!("{what}\n");
        let first = self.0.len().saturating_sub(BEFORE);
        for (at, direction, segment) in &self.0[first..] {
            let _ = writeln!(text, "  {:>10.6} {direction} {segment}", at.as_secs_f64());
        }
        let width = expected.lines().map(str::len).max().unwrap_or(0).max(8);
        let _ = writeln!(text, "  {:width$} | sent", "expected");
        let _ = writeln!(text, "  {:-<width$}-+-{:-<width$}", "", "");
        let (mut left, mut right) = (expected.lines(), sent.lines());
        loop {
            match (left.next(), right.next()) {
                (None, None) => return text,
                (one, other) => {
                    let (one, other) = (one.unwrap_or(""), other.unwrap_or(""));
                    let _ = writeln!(text, "  {one:width$} | {other}");
                }
            }
        }
    }
}
