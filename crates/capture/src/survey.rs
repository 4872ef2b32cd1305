//! One pass over the packets of a capture: its flows, its other content, and its soundness.

use std::fmt;

use airtcp_units::{Duration, Instant};

use crate::decode::{Endpoint, Other, Radio, Tcp, decode, decode_aggregate};
use crate::flow::{Flow, Packets, Table, Unlisted};
use crate::read::{ReadError, Reader, Record};

/// Number of packets between two checks of the clock and the listener.
const LISTENING_PACKETS: u64 = 1 << 14;
/// Maximum step back in time from the interleaving of several processors' buffers.
const HARMLESS_STEP: Duration = Duration::from_millis(1);

/// Memory limits of a survey.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of listed flows. Beyond it, the smaller half is only totalled.
    pub flows: usize,
    /// Maximum number of stored packets over all flows. Beyond it, only the larger flows are
    /// stored.
    pub packets: usize,
    /// Maximum number of stored packets in a pass for one flow. Beyond it, only its beginning is
    /// stored.
    pub packets_of_one: usize,
}

impl Default for Limits {
    /// 18 MiB of packets, 72 MiB in a pass for one flow, and at most 20 MiB of flows; 48 MiB more
    /// where each of them has duplicates.
    fn default() -> Self {
        Self {
            flows: 1 << 14,
            packets: 3 << 17,
            packets_of_one: 3 << 19,
        }
    }
}

/// Packets other than TCP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Others {
    packets: [u64; Other::COUNT],
    bytes: [u64; Other::COUNT],
}

impl Others {
    fn count(&mut self, kind: Other, wire_bytes: u32) {
        let place = kind as usize;
        self.packets[place] += 1;
        self.bytes[place] += u64::from(wire_bytes);
    }

    /// Number of packets of a kind.
    #[must_use]
    pub fn packets(&self, kind: Other) -> u64 {
        self.packets[kind as usize]
    }

    /// Bytes on the wire of a kind.
    #[must_use]
    pub fn bytes(&self, kind: Other) -> u64 {
        self.bytes[kind as usize]
    }
}

/// Progress of a survey.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Bytes read of the file or pipe, before decompression.
    pub bytes: u64,
    /// Packets read.
    pub packets: u64,
}

/// Errors that end a survey without a result.
#[derive(Debug)]
pub enum SurveyError {
    /// There is nothing to read, or it is not a capture.
    Read(ReadError),
    /// The listener cancelled.
    Interrupted,
}

impl fmt::Display for SurveyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(error) => error.fmt(f),
            Self::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl std::error::Error for SurveyError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Read(error) => Some(error),
            Self::Interrupted => None,
        }
    }
}

impl From<ReadError> for SurveyError {
    fn from(error: ReadError) -> Self {
        Self::Read(error)
    }
}

/// A capture after one pass over it.
#[derive(Debug)]
pub struct Survey {
    table: Table,
    /// The time of the first packet, in nanoseconds since the start of 1970.
    pub start_nanos: u64,
    /// From the first packet to the last.
    pub length: Duration,
    /// Packets of every kind.
    pub packets: u64,
    /// Counts of packets other than TCP.
    pub others: Others,
    /// The first unknown link type (tcpdump.org's "LINKTYPE_").
    pub unknown_link: Option<u16>,
    /// TCP packets.
    pub tcp_packets: u64,
    /// Packets without a timestamp (pcapng simple packet blocks), which are ignored.
    pub untimed: u64,
    /// Packets that the capture reports as dropped.
    pub dropped: u64,
    /// Steps back in time of more than a millisecond between one packet and the next.
    pub steps_back: u64,
    /// The longest such step.
    pub longest_step_back: Duration,
    /// Whether the file ended in the middle of a record.
    pub is_cut: bool,
    /// Why the rest of the file was not read, if so.
    pub damage: Option<ReadError>,
    /// TCP frames seen by a radio monitor, and the number with the retry bit.
    pub radio_frames: [u64; 2],
}

impl Survey {
    /// Reads a capture to its end. `only` gives the ends of the one flow to store; without it the
    /// largest flows are stored. `listen` receives the progress regularly, and cancels the survey
    /// by returning `false`.
    ///
    /// # Errors
    /// There is not a single packet to read, or `listen` returned `false`. A file damaged further
    /// on yields the part before the damage.
    pub fn of(
        mut reader: Reader,
        limits: &Limits,
        only: Option<(Endpoint, Endpoint)>,
        listen: &mut dyn FnMut(Progress) -> bool,
    ) -> Result<Self, SurveyError> {
        let packets = match only {
            None => limits.packets,
            Some(_) => limits.packets_of_one,
        };
        let mut survey = Self {
            table: Table::new(limits.flows, packets, only),
            start_nanos: 0,
            length: Duration::ZERO,
            packets: 0,
            others: Others::default(),
            unknown_link: None,
            tcp_packets: 0,
            untimed: 0,
            dropped: 0,
            steps_back: 0,
            longest_step_back: Duration::ZERO,
            is_cut: false,
            damage: None,
            radio_frames: [0; 2],
        };
        let mut now = Instant::ZERO;
        loop {
            if survey.packets.is_multiple_of(LISTENING_PACKETS) {
                let progress = Progress {
                    bytes: reader.bytes_read(),
                    packets: survey.packets,
                };
                if !listen(progress) {
                    return Err(SurveyError::Interrupted);
                }
            }
            match survey.take_next(&mut reader, now) {
                Ok(Some(time)) => now = time,
                Ok(None) => break,
                Err(error) if survey.packets == 0 => return Err(error.into()),
                Err(error) => {
                    survey.damage = Some(error);
                    break;
                }
            }
        }
        survey.length = now - Instant::ZERO;
        survey.is_cut = reader.is_cut();
        survey.dropped = survey.dropped.max(reader.dropped());
        Ok(survey)
    }

    /// Processes the next packet; returns the latest time so far, `None` at the end.
    #[inline]
    fn take_next(
        &mut self,
        reader: &mut Reader,
        now: Instant,
    ) -> Result<Option<Instant>, ReadError> {
        let Some(record) = reader.next_record()? else {
            return Ok(None);
        };
        self.packets += 1;
        self.dropped = self
            .dropped
            .saturating_add(u64::from(record.dropped_before));
        let (mut latest, mut own) = (now, now);
        if let Some(nanos) = record.time {
            if self.packets == self.untimed + 1 {
                self.start_nanos = nanos;
            }
            let time = Instant::from_nanos(nanos.saturating_sub(self.start_nanos));
            if time < now || nanos < self.start_nanos {
                self.step_back(now - time);
            }
            latest = latest.max(time);
            own = time;
        }
        self.untimed += u64::from(record.time.is_none());
        match decode(&record) {
            Ok(tcp) => self.take_segment(&tcp, &record, own),
            Err(Other::Aggregate) => self.take_aggregate(&record, own),
            Err(kind) => self.take_other(kind, &record, record.wire_bytes),
        }
        Ok(Some(latest))
    }

    #[inline]
    fn take_segment(&mut self, tcp: &Tcp, record: &Record<'_>, at: Instant) {
        self.tcp_packets += 1;
        if tcp.radio != Radio::default() {
            self.radio_frames[0] += 1;
            self.radio_frames[1] += u64::from(tcp.radio.is_retry);
        }
        if record.time.is_some() {
            self.table.take(tcp, at, record.number, record.interface);
        }
    }

    fn take_other(&mut self, kind: Other, record: &Record<'_>, wire_bytes: u32) {
        self.others.count(kind, wire_bytes);
        if kind == Other::UnknownLink {
            self.unknown_link.get_or_insert(record.link);
        }
    }

    /// Processes the packets of an A-MSDU, each with the time of their frame.
    #[cold]
    fn take_aggregate(&mut self, record: &Record<'_>, at: Instant) {
        let mut is_empty = true;
        decode_aggregate(record, &mut |found, wire_bytes| {
            is_empty = false;
            match found {
                Ok(tcp) => self.take_segment(&tcp, record, at),
                Err(kind) => self.take_other(kind, record, wire_bytes),
            }
        });
        if is_empty {
            self.take_other(Other::Aggregate, record, record.wire_bytes);
        }
    }

    #[cold]
    fn step_back(&mut self, step: Duration) {
        if step > HARMLESS_STEP {
            self.steps_back += 1;
            self.longest_step_back = self.longest_step_back.max(step);
        }
    }

    /// The flows, in the order of their first packets.
    pub fn flows(&self) -> impl Iterator<Item = &Flow> {
        self.table.flows()
    }

    /// The flows with the most payload first.
    #[must_use]
    pub fn by_size(&self) -> Vec<&Flow> {
        let mut flows: Vec<&Flow> = self.flows().collect();
        flows.sort_by_key(|flow| (std::cmp::Reverse(flow.bytes()), flow.number));
        flows
    }

    /// The flow with that number.
    #[must_use]
    pub fn flow(&self, number: u32) -> Option<&Flow> {
        self.flows().find(|flow| flow.number == number)
    }

    /// The flow with the most payload.
    #[must_use]
    pub fn largest(&self) -> Option<&Flow> {
        self.by_size().first().copied()
    }

    /// Totals of unlisted flows, if there are too many to list.
    #[must_use]
    pub fn unlisted(&self) -> Unlisted {
        self.table.unlisted()
    }

    /// Number of flows, listed or not.
    #[must_use]
    pub fn flow_count(&self) -> u32 {
        self.table.begun()
    }

    /// The stored packets of a flow, in the order of the file.
    #[must_use]
    pub fn packets_of(&self, flow: &Flow) -> Packets<'_> {
        self.table.packets(flow)
    }
}
