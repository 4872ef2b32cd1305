//! Segments that arrive, and segments that must leave.

use airtcp_packet::{Ecn, Flags, SackBlock, Segment, SequenceNumber, TailOptions, Timestamps};
use airtcp_units::Instant;

use super::Machine;
use super::stop::{Step, Stop, unsupported};
use crate::report;
use crate::syntax::{Marking, Options, Packet};

impl Machine<'_> {
    /// A segment arrives.
    pub(super) fn inject(&mut self, packet: &Packet) -> Step {
        let none = Options::default();
        let options = packet.options.as_ref().unwrap_or(&none);
        if options.any {
            return unsupported("a segment that arrives with any options");
        }
        let mut tail = TailOptions::default();
        for block in &options.sack {
            tail.push(*block);
        }
        let timestamps = options
            .timestamps
            .map(|(value, echo)| Timestamps { value, echo });
        let now = self.now();
        let flow = self.path.arrival();
        let start = if packet.flags.contains(Flags::SYN) && !flow.is_open {
            flow.theirs = packet.start;
            packet.start
        } else {
            packet.start.wrapping_add(flow.theirs)
        };
        let mut segment = Segment {
            sequence: SequenceNumber(start),
            acknowledgment: SequenceNumber(packet.ack.unwrap_or(0)),
            payload_bytes: packet.payload,
            window: packet.window.unwrap_or(0),
            flags: packet.flags,
            ecn: match packet.marking {
                Some(Marking::Is(ecn)) => ecn,
                Some(Marking::Capable) => Ecn::Capable0,
                None => Ecn::NotCapable,
            },
            timestamps,
            tail,
            mss: options.mss,
            window_scale: options.window_scale,
            sack_permitted: options.sack_permitted,
        };
        if let Some(option) = options
            .fast_open
            .filter(|_| segment.flags.contains(Flags::SYN))
        {
            segment.set_fast_open(option);
        }
        self.exchange.push(now, '<', &segment);
        let bytes = match flow.arriving(&segment) {
            Ok(bytes) => bytes,
            Err(error) => return unsupported(format!("a segment that arrives: {error}")),
        };
        // A stray is answered, or not, as the endpoint sees fit.
        let _ = self.sockets.endpoint.handle_packet(now, &bytes);
        self.drain();
        self.settle_blocked()
    }

    /// A segment must leave between `earliest` and `latest`.
    pub(super) fn expect(&mut self, packet: &Packet, earliest: Instant, latest: Instant) -> Step {
        let first = self.next_sent(latest, packet)?;
        let (at, mut segment) = first;
        // Linux passes whole trains to the device, and scripts show these: consecutive segments of
        // one instant are merged.
        while segment.payload_bytes < packet.payload {
            let follows = |next: &Segment| {
                next.sequence.0 == segment.sequence.0.wrapping_add(segment.payload_bytes)
                    && next.payload_bytes > 0
                    && next.ecn == segment.ecn
            };
            match self.sent.front() {
                Some((when, next)) if *when == at && follows(next) => {
                    segment.payload_bytes += next.payload_bytes;
                    segment.flags |= next.flags;
                    self.sent.pop_front();
                }
                _ => break,
            }
        }
        let early = at + self.tolerance < earliest;
        let late = latest != Instant::FAR_FUTURE && at > latest + self.tolerance;
        if early || late {
            let expected = if earliest == latest {
                format!("at {:.6} s", earliest.as_secs_f64())
            } else {
                format!(
                    "at {:.6} to {:.6} s",
                    earliest.as_secs_f64(),
                    latest.as_secs_f64()
                )
            };
            return Err(self.mismatch(
                "the time differs",
                &format!("{expected}\n{}", report::of_packet(packet)),
                &format!(
                    "at {:.6} s\n{}",
                    at.as_secs_f64(),
                    report::of_segment(&segment)
                ),
            ));
        }
        if let Some(difference) = self.difference(packet, &segment) {
            return Err(self.mismatch(
                &format!("the {difference} differs"),
                &report::of_packet(packet),
                &report::of_segment(&segment),
            ));
        }
        self.sockets.now = self.now().max(at);
        Ok(())
    }

    /// The next segment that left, or leaves until `latest`.
    fn next_sent(&mut self, latest: Instant, packet: &Packet) -> Result<(Instant, Segment), Stop> {
        let limit = if latest == Instant::FAR_FUTURE {
            latest
        } else {
            latest + self.tolerance
        };
        while self.sent.is_empty() {
            let wakeup = self.next_wakeup();
            if wakeup > limit || wakeup == Instant::FAR_FUTURE {
                return Err(self.mismatch(
                    &format!(
                        "nothing was sent until {:.6} s",
                        limit.as_secs_f64().min(1e6)
                    ),
                    &report::of_packet(packet),
                    "nothing",
                ));
            }
            self.advance(wakeup)?;
        }
        Ok(self.sent.pop_front().unwrap_or_default())
    }

    fn mismatch(&self, what: &str, expected: &str, sent: &str) -> Stop {
        Stop::Failed(self.exchange.compare(what, expected, sent))
    }

    /// The first difference of a segment from the expected one. PSH is not compared: which segments
    /// of a train carry it depends on how the kernel cut the train.
    fn difference(&mut self, packet: &Packet, segment: &Segment) -> Option<&'static str> {
        let bare = |flags: Flags| flags.bits() & !Flags::PSH.bits();
        if bare(packet.flags) != bare(segment.flags) {
            return Some("set of flags");
        }
        let is_marked_so = match packet.marking {
            None => true,
            Some(Marking::Is(ecn)) => segment.ecn == ecn,
            Some(Marking::Capable) => matches!(segment.ecn, Ecn::Capable0 | Ecn::Capable1),
        };
        if !is_marked_so {
            return Some("ECN field");
        }
        // The initial sequence numbers are as scripted in a SYN, and zero after it.
        let is_syn = packet.flags.contains(Flags::SYN);
        let theirs = self.path.flow.as_ref().map_or(0, |flow| flow.theirs);
        let isn = if is_syn { 0 } else { theirs };
        let starts = is_syn || packet.start == segment.sequence.0;
        if !starts || packet.payload != segment.payload_bytes {
            return Some("range");
        }
        if packet
            .ack
            .is_some_and(|ack| ack.wrapping_add(isn) != segment.acknowledgment.0)
        {
            return Some("acknowledgment");
        }
        if packet.window.is_some_and(|window| window != segment.window) {
            return Some("window");
        }
        let Some(options) = &packet.options else {
            // Only a SYN must list its options; elsewhere an empty list matches any options.
            return (!segment.tail.blocks().is_empty()).then_some("set of SACK blocks");
        };
        if let (Some((script, _)), Some(ours)) = (options.timestamps, segment.timestamps) {
            self.path.arrival().map_stamp(script, ours.value);
        }
        if options.any {
            return None;
        }
        different_option(options, segment, theirs)
    }
}

fn different_option(options: &Options, segment: &Segment, theirs: u32) -> Option<&'static str> {
    if options.mss != segment.mss {
        return Some("MSS option");
    }
    if options.window_scale != segment.window_scale {
        return Some("window scale option");
    }
    // With timestamps in a SYN, SACK-permitted is one of several ways to pad.
    if options.sack_permitted != segment.sack_permitted {
        return Some("SACK-permitted option");
    }
    let sack = options.sack.iter().map(|block| SackBlock {
        start: block.start + theirs,
        end: block.end + theirs,
    });
    if !sack.eq(segment.tail.blocks().iter().copied()) {
        return Some("set of SACK blocks");
    }
    if options.fast_open != segment.fast_open() {
        return Some("Fast Open option");
    }
    match (options.timestamps, segment.timestamps) {
        (None, None) => None,
        (Some((_, echo)), Some(stamps)) if echo == stamps.echo => None,
        _ => Some("timestamps option"),
    }
}
