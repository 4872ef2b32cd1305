//! Airtime per transmitter, from a monitor capture.
//!
//! A PPDU's duration follows from its mode and its length. Frames with the same aggregate number
//! are one PPDU. Excluded are frames that the monitor missed, frames to several stations at once,
//! and the idle time required around each frame.

use std::collections::BTreeMap;
use std::path::Path;

use airtcp_link::phy::aggregate::Ampdu;
use airtcp_link::phy::{BasicRates, Family, Mode, PacketPadding, Phy, Standard};
use airtcp_units::Duration;

use crate::decode::Radiotap;
use crate::read::{ReadError, Reader};

/// LINKTYPE_IEEE802_11_RADIOTAP (tcpdump.org).
const LINK_TYPE: u16 = 127;
/// Bytes of a frame's FCS, if the monitor omitted it.
const FCS_BYTES: u32 = 4;
/// Maximum number of distinct pairs of stations; a crowded channel has some hundreds.
const MAX_PAIRS: usize = 1 << 14;

/// A MAC address.
pub type Mac = [u8; 6];

/// Frames from one transmitter to one receiver.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pair {
    /// Frames of any type.
    pub frames: u64,
    /// Data frames that carry data.
    pub data_frames: u64,
    /// Data frames with the retry bit.
    pub retries: u64,
    /// Bytes of those data frames, headers included.
    pub data_bytes: u64,
    /// Transmissions; an aggregate counts once.
    pub ppdus: u64,
    /// Total duration of the transmissions.
    pub airtime: Duration,
    /// Data bytes weighted by rate: the sum of bytes times Mbit/s.
    rate_weight: f64,
    /// Data bytes with a known rate.
    rated_bytes: u64,
    /// Frames with an unknown duration.
    pub unknown: u64,
    /// The fastest mode of its data frames.
    pub fastest: Option<Mode>,
    signal_sum: i64,
    signal_frames: u64,
}

impl Pair {
    /// Mean rate of its data bytes, in bits a second; `None` if no rate is known.
    #[must_use]
    pub fn mean_rate_bps(&self) -> Option<f64> {
        (self.rated_bytes > 0).then(|| 1e6 * self.rate_weight / self.rated_bytes as f64)
    }

    /// Mean signal at the monitor, in dBm.
    #[must_use]
    pub fn signal_dbm(&self) -> Option<f64> {
        (self.signal_frames > 0).then(|| self.signal_sum as f64 / self.signal_frames as f64)
    }

    fn count(&mut self, frame: &Frame, header: &Radiotap) {
        self.frames += 1;
        if let Some(dbm) = header.signal_dbm {
            self.signal_sum += i64::from(dbm);
            self.signal_frames += 1;
        }
        if !frame.is_data {
            return;
        }
        self.data_frames += 1;
        self.retries += u64::from(frame.is_retry);
        self.data_bytes += u64::from(frame.bytes);
        let Some(mode) = header.mode else { return };
        self.rated_bytes += u64::from(frame.bytes);
        self.rate_weight += f64::from(frame.bytes) * mode.bit_rate().as_bps() as f64 / 1e6;
        if self
            .fastest
            .is_none_or(|fastest| fastest.bit_rate() < mode.bit_rate())
        {
            self.fastest = Some(mode);
        }
    }
}

/// The header of an 802.11 frame.
struct Frame {
    transmitter: Option<Mac>,
    receiver: Mac,
    bytes: u32,
    is_data: bool,
    is_retry: bool,
}

impl Frame {
    /// Parses the frame in `bytes`, of `wire_bytes` with its FCS; `None` if it is truncated before
    /// its addresses.
    fn of(bytes: &[u8], wire_bytes: u32) -> Option<Self> {
        const CONTROL: u8 = 0x04;
        const DATA: u8 = 0x08;
        const NO_DATA: u8 = 0x40;
        const RETRY: u8 = 0x08;
        /// ACK and CTS, which have one address (IEEE 802.11-2020 §9.3.1).
        const CTS: u8 = 0xc0;
        const ACK: u8 = 0xd0;
        let (kind, flags) = (*bytes.first()?, *bytes.get(1)?);
        let address = |at: usize| bytes.get(at..).and_then(<[u8]>::first_chunk).copied();
        let has_one = kind & 0x0c == CONTROL && matches!(kind & 0xf0, CTS | ACK);
        Some(Self {
            transmitter: if has_one { None } else { Some(address(10)?) },
            receiver: address(4)?,
            bytes: wire_bytes,
            is_data: kind & 0x0c == DATA && kind & NO_DATA == 0,
            is_retry: flags & RETRY != 0,
        })
    }
}

/// A PPDU that may have more frames.
struct Open {
    number: u32,
    pair: (Option<Mac>, Mac),
    mode: Mode,
    aggregate: Ampdu,
}

/// A channel's frames by transmitter and receiver.
#[derive(Clone, Debug, Default)]
pub struct Air {
    /// By transmitter and receiver; the transmitter is `None` for ACK and CTS, which do not contain
    /// it.
    pub pairs: BTreeMap<(Option<Mac>, Mac), Pair>,
    /// From the first frame to the last.
    pub length: Duration,
    /// Damaged frames, which are in no pair.
    pub damaged: u64,
    /// Whether there were more pairs than `MAX_PAIRS`.
    pub is_cut: bool,
}

impl Air {
    /// Reads a monitor capture. A capture without radiotap has no pairs.
    ///
    /// # Errors
    /// There is no capture to read. A file damaged further on yields the part before the damage.
    pub fn read(path: &Path) -> Result<Self, ReadError> {
        let mut found = Self::default();
        let mut open: Option<Open> = None;
        let mut start = None;
        Reader::open(path)?.for_each(|record| {
            if record.link != LINK_TYPE {
                return;
            }
            let Ok(header) = Radiotap::of(record.bytes) else {
                return;
            };
            if let Some(nanos) = record.time {
                let since = nanos.saturating_sub(*start.get_or_insert(nanos));
                found.length = found.length.max(Duration::from_nanos(since));
            }
            if header.is_damaged {
                found.damaged += 1;
                return;
            }
            let fcs = if header.has_fcs { 0 } else { FCS_BYTES };
            let wire = record.wire_bytes.saturating_sub(header.bytes as u32) + fcs;
            let body = record.bytes.get(header.bytes..).unwrap_or_default();
            if let Some(frame) = Frame::of(body, wire) {
                found.take(&mut open, &frame, &header);
            }
        })?;
        found.close(open);
        Ok(found)
    }

    fn take(&mut self, open: &mut Option<Open>, frame: &Frame, header: &Radiotap) {
        let pair = (frame.transmitter, frame.receiver);
        if self.pairs.len() >= MAX_PAIRS && !self.pairs.contains_key(&pair) {
            self.is_cut = true;
            return;
        }
        self.pairs.entry(pair).or_default().count(frame, header);
        if let (Some(one), Some(number)) = (open.as_mut(), header.aggregate)
            && one.number == number
            && one.pair == pair
            && one.aggregate.add(frame.bytes)
        {
            return;
        }
        self.close(open.take());
        let entry = self.pairs.entry(pair).or_default();
        match (header.mode, header.aggregate) {
            (Some(mode), Some(number)) if mode.aggregates() => {
                let mut aggregate = Ampdu::new(mode.family().max_ampdu_bytes(), 0);
                aggregate.add(frame.bytes);
                *open = Some(Open {
                    number,
                    pair,
                    mode,
                    aggregate,
                });
            }
            (Some(mode), _) => {
                entry.ppdus += 1;
                entry.airtime += time_of(mode, frame.bytes);
            }
            (None, _) => entry.unknown += 1,
        }
    }

    fn close(&mut self, open: Option<Open>) {
        let Some(open) = open else { return };
        let entry = self.pairs.entry(open.pair).or_default();
        entry.ppdus += 1;
        entry.airtime += time_of(open.mode, open.aggregate.bytes());
    }
}

/// Duration of a PPDU of this mode and length: for 802.11b with the long preamble, without the
/// signal extension of 2.4 GHz.
fn time_of(mode: Mode, bytes: u32) -> Duration {
    let standard = match mode.family() {
        Family::Dsss => Standard::B,
        Family::Ofdm => Standard::A,
        Family::Ht | Family::Vht | Family::He => {
            return mode.ppdu_time(bytes, PacketPadding::None);
        }
    };
    // A mode of the same standard, and a basic rate no faster than the mode: always valid.
    Phy::in_modes(standard, mode, BasicRates::of(&[mode]))
        .map_or(Duration::ZERO, |phy| phy.data_time(bytes))
}

#[cfg(test)]
mod tests;
