//! A TCP segment as a value.

use crate::{Ecn, FastOpen, Flags, Forecast, SequenceNumber, TailOptions};

/// The timestamps option (RFC 7323 §3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Timestamps {
    /// TSval: the sender's clock, in its ticks.
    pub value: u32,
    /// TSecr: the peer's clock as last received.
    pub echo: u32,
}

/// A TCP segment with a length in place of its payload. Small and `Copy`: the simulator moves
/// these.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Segment {
    /// The sequence number of the first byte, or of the SYN.
    pub sequence: SequenceNumber,
    /// The next byte expected from the peer; significant when [`Flags::ACK`] is set.
    pub acknowledgment: SequenceNumber,
    /// Bytes of data carried.
    pub payload_bytes: u32,
    /// The receive window as the field on the wire: not yet scaled (RFC 7323 §2.2).
    pub window: u16,
    /// Control bits.
    pub flags: Flags,
    /// The ECN field of the IP header that carries it.
    pub ecn: Ecn,
    /// Timestamps option.
    pub timestamps: Option<Timestamps>,
    /// SACK blocks, a forecast, or Fast Open's option.
    pub tail: TailOptions,
    /// Maximum segment size option, in bytes (RFC 9293 §3.7.1).
    pub mss: Option<u16>,
    /// Window scale option, a shift count (RFC 7323 §2.2).
    pub window_scale: Option<u8>,
    /// SACK-permitted option (RFC 2018 §2).
    pub sack_permitted: bool,
}

/// TCP header without options (RFC 9293 §3.1).
const BARE_HEADER_BYTES: u32 = 20;
/// IPv4 header without options (RFC 791 §3.1).
const IPV4_HEADER_BYTES: u32 = 20;
/// Space for options: the header's length field ends at 60 bytes.
const MAX_OPTION_BYTES: u32 = 40;
/// Two bytes of padding, kind and length in front of the SACK blocks.
const SACK_PREFIX_BYTES: u32 = 4;
/// A forecast's option, of whole words.
const FORECAST_BYTES: u32 = Forecast::OPTION_BYTES as u32;
/// Two sequence numbers.
const SACK_BLOCK_BYTES: u32 = 8;

impl Segment {
    /// The TCP header with its options, padded to whole words as Linux lays them out.
    #[inline]
    #[must_use]
    pub fn header_bytes(&self) -> u32 {
        let last = if self.tail.is_none() {
            0
        } else {
            self.last_option_bytes()
        };
        BARE_HEADER_BYTES + self.option_bytes_before_sack() + last
    }

    /// SACK blocks and a forecast, or Fast Open's option, padded to whole words.
    fn last_option_bytes(&self) -> u32 {
        if let Some(option) = self.fast_open_on_wire() {
            return u32::from(option.option_bytes()).next_multiple_of(4);
        }
        let blocks = self.sack_blocks_on_wire() as u32;
        if self.tail.forecast().is_some() {
            let sack = if blocks > 0 { SACK_PREFIX_BYTES } else { 0 };
            return FORECAST_BYTES + sack + blocks * SACK_BLOCK_BYTES;
        }
        SACK_PREFIX_BYTES + blocks * SACK_BLOCK_BYTES
    }

    /// Adds a forecast, and keeps as many SACK blocks as fit next to it.
    pub fn set_forecast(&mut self, forecast: Forecast) {
        let before = self.option_bytes_before_sack() + FORECAST_BYTES + SACK_PREFIX_BYTES;
        let fits = MAX_OPTION_BYTES.saturating_sub(before) / SACK_BLOCK_BYTES;
        self.tail = self.tail.with_forecast(forecast, fits as usize);
    }

    /// The option of TCP Fast Open (RFC 7413), which only a SYN has.
    #[must_use]
    pub fn fast_open(&self) -> Option<FastOpen> {
        self.tail.fast_open()
    }

    /// Gives a SYN the option of TCP Fast Open: it replaces the SACK blocks of other segments.
    pub fn set_fast_open(&mut self, option: FastOpen) {
        self.tail = TailOptions::FastOpen(option);
    }

    /// The Fast Open option, if it fits after the other options.
    pub(crate) fn fast_open_on_wire(&self) -> Option<FastOpen> {
        let room = MAX_OPTION_BYTES - self.option_bytes_before_sack();
        self.fast_open()
            .filter(|option| u32::from(option.option_bytes()).next_multiple_of(4) <= room)
    }

    /// The whole IPv4 packet: IP header, TCP header and payload.
    #[inline]
    #[must_use]
    pub fn ip_bytes(&self) -> u32 {
        (IPV4_HEADER_BYTES + self.header_bytes()).saturating_add(self.payload_bytes)
    }

    /// Sequence space occupied: the payload, and one each for SYN and FIN
    /// (RFC 9293 §3.4).
    #[inline]
    #[must_use]
    pub fn sequence_length(&self) -> u32 {
        self.payload_bytes
            .saturating_add(u32::from(self.flags.contains(Flags::SYN)))
            .saturating_add(u32::from(self.flags.contains(Flags::FIN)))
    }

    /// Number of SACK blocks that fit after the other options: three with timestamps, four without
    /// (RFC 2018 §3).
    #[inline]
    #[must_use]
    pub fn sack_blocks_on_wire(&self) -> usize {
        let count = self.tail.blocks().len();
        if count == 0 {
            return 0;
        }
        let space = MAX_OPTION_BYTES - self.option_bytes_before_sack() - SACK_PREFIX_BYTES;
        count.min((space / SACK_BLOCK_BYTES) as usize)
    }

    /// Every option but SACK, each padded to whole words. SACK-permitted takes the place of the
    /// padding in front of timestamps.
    #[inline]
    fn option_bytes_before_sack(&self) -> u32 {
        let mut bytes = 0;
        if self.mss.is_some() {
            bytes += 4;
        }
        if self.timestamps.is_some() {
            bytes += 12;
        } else if self.sack_permitted {
            bytes += 4;
        }
        if self.window_scale.is_some() {
            bytes += 4;
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SackBlock;

    #[test]
    fn a_segment_is_small() {
        assert!(size_of::<Segment>() <= 80, "{}", size_of::<Segment>());
    }

    /// RFC 9293 §3.4: SYN and FIN take one sequence number each, other flags take no space.
    #[test]
    fn sequence_length_counts_syn_and_fin() {
        let length = |payload_bytes, flags| {
            Segment {
                payload_bytes,
                flags,
                ..Segment::default()
            }
            .sequence_length()
        };
        assert_eq!(length(0, Flags::default()), 0);
        assert_eq!(length(0, Flags::ACK | Flags::RST | Flags::PSH), 0);
        assert_eq!(length(0, Flags::SYN | Flags::ACK), 1);
        assert_eq!(length(0, Flags::FIN), 1);
        assert_eq!(length(1448, Flags::FIN), 1449);
        assert_eq!(length(10, Flags::SYN | Flags::FIN), 12);
        assert_eq!(length(u32::MAX, Flags::SYN | Flags::FIN), u32::MAX);
    }

    /// Lengths that Linux sends, as `tcpdump` shows them: 20 and 20 bare, 32 with timestamps, 40
    /// for a SYN with everything; RFC 2018 §3 and RFC 7323 appendix A for the SACK blocks.
    #[test]
    fn header_lengths_are_those_of_linux() {
        let bare = Segment {
            payload_bytes: 1460,
            ..Segment::default()
        };
        assert_eq!((bare.header_bytes(), bare.ip_bytes()), (20, 1500));
        let timestamps = Some(Timestamps::default());
        let data = Segment {
            payload_bytes: 1448,
            timestamps,
            ..bare
        };
        assert_eq!((data.header_bytes(), data.ip_bytes()), (32, 1500));
        let syn = Segment {
            timestamps,
            mss: Some(1460),
            window_scale: Some(7),
            sack_permitted: true,
            ..Segment::default()
        };
        assert_eq!(syn.header_bytes(), 40);
        assert_eq!(
            Segment {
                sack_permitted: false,
                ..syn
            }
            .header_bytes(),
            40
        );
        assert_eq!(
            Segment {
                timestamps: None,
                ..syn
            }
            .header_bytes(),
            32
        );
        assert_eq!(
            Segment {
                window_scale: None,
                ..syn
            }
            .header_bytes(),
            36
        );
        assert_eq!(Segment { mss: None, ..syn }.header_bytes(), 36);
        assert_eq!(
            Segment {
                payload_bytes: u32::MAX,
                ..syn
            }
            .ip_bytes(),
            u32::MAX
        );
    }

    /// A SYN with everything else has 20 bytes left: a cookie of 16 in either format.
    #[test]
    fn every_cookie_fits_behind_the_options_of_a_syn() {
        let syn = Segment {
            timestamps: Some(Timestamps::default()),
            mss: Some(1460),
            window_scale: Some(7),
            sack_permitted: true,
            ..Segment::default()
        };
        let lengths = [0, 4, 6, 8, 16].map(|length| {
            let cookie = FastOpen::cookie(&[9; 16][..length]).unwrap_or(FastOpen::REQUEST);
            let mut syn = syn;
            syn.set_fast_open(cookie);
            let standard = syn.header_bytes() - 40;
            syn.set_fast_open(cookie.experimental());
            assert_eq!(syn.fast_open(), Some(cookie.experimental()));
            (standard, syn.header_bytes() - 40)
        });
        assert_eq!(lengths, [(4, 4), (8, 8), (8, 12), (12, 12), (20, 20)]);
        assert_eq!(syn.fast_open(), None);
    }

    #[test]
    fn sack_blocks_take_the_space_that_is_left() {
        let mut segment = Segment::default();
        let mut sizes = Vec::new();
        let mut sizes_with_timestamps = Vec::new();
        for _ in 0..4 {
            segment.tail.push(SackBlock::default());
            sizes.push(segment.header_bytes());
            let timestamps = Some(Timestamps::default());
            sizes_with_timestamps.push(
                Segment {
                    timestamps,
                    ..segment
                }
                .header_bytes(),
            );
        }
        assert_eq!(sizes, [32, 40, 48, 56]);
        assert_eq!(sizes_with_timestamps, [44, 52, 60, 60]);
        // All options of a SYN leave 20 bytes: two blocks.
        let crowded = Segment {
            timestamps: Some(Timestamps::default()),
            mss: Some(1460),
            window_scale: Some(7),
            ..segment
        };
        assert_eq!(
            (crowded.sack_blocks_on_wire(), crowded.header_bytes()),
            (2, 60)
        );
    }
}
