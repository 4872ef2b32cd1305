//! The rates of a station, in groups of the same width, guard interval and number of streams.

use crate::phy::{Family, Mode};

use super::statistics::Statistics;

/// Maximum number of modes in a group: HE's MCS 0 to 11.
pub(super) const PLACES: usize = 12;

/// Bits of an average A-MPDU, the basis for comparing modes: 16 packets of 1200 bytes.
const AVERAGE_BITS: u64 = 16 * 1200 * 8;

/// A rate: its group, and its index there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rate {
    pub group: u8,
    pub place: u8,
}

/// Modes of the same width, guard interval and number of streams.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub streams: u8,
    modes: [Option<Mode>; PLACES],
    /// Nanoseconds of an average packet, one of an average A-MPDU.
    durations: [u32; PLACES],
    pub statistics: [Statistics; PLACES],
    /// The two of highest throughput, and the one of highest probability.
    pub best: [Rate; 2],
    pub most_probable: Rate,
    /// Position of the next sample in the table of columns.
    pub column: usize,
    pub row: usize,
}

impl Group {
    fn new(mode: Mode, number: u8) -> Self {
        let first = Rate {
            group: number,
            place: 0,
        };
        Self {
            streams: mode.streams(),
            modes: [None; PLACES],
            durations: [u32::MAX; PLACES],
            statistics: [Statistics::default(); PLACES],
            best: [first; 2],
            most_probable: first,
            column: 0,
            row: 0,
        }
    }

    pub(super) fn mode(&self, place: u8) -> Option<Mode> {
        self.modes[usize::from(place)]
    }

    pub(super) fn has(&self, place: u8) -> bool {
        self.mode(place).is_some()
    }

    pub(super) fn duration(&self, place: u8) -> u32 {
        self.durations[usize::from(place)]
    }

    fn add(&mut self, mode: Mode) {
        let place = usize::from(mode.index());
        let symbols = AVERAGE_BITS.div_ceil(mode.data_bits_per_symbol().max(1));
        let nanos = symbols * mode.symbol_time().as_nanos() / 16;
        self.modes[place] = Some(mode);
        self.durations[place] = u32::try_from(nanos).unwrap_or(u32::MAX);
    }
}

/// The groups of `modes`, which are all of one family, in the order of width, guard interval (the
/// longer first) and streams. Modes of 802.11b, g and a are left out.
pub(super) fn groups(modes: &[Mode]) -> Vec<Group> {
    let key = |mode: &Mode| {
        (
            mode.width(),
            std::cmp::Reverse(mode.guard_interval()),
            mode.streams(),
        )
    };
    let mut sorted: Vec<_> = modes
        .iter()
        .copied()
        .filter(|mode| !matches!(mode.family(), Family::Dsss | Family::Ofdm))
        .collect();
    sorted.sort_by_key(key);
    let mut groups: Vec<Group> = Vec::new();
    for same in sorted.chunk_by(|a, b| key(a) == key(b)) {
        let number = u8::try_from(groups.len()).unwrap_or(u8::MAX);
        let mut group = Group::new(same[0], number);
        same.iter().for_each(|mode| group.add(*mode));
        groups.push(group);
    }
    groups
}
