//! Reception times of the MPDUs of a PPDU, each at its last bit.

use airtcp_units::{Duration, Instant};

use crate::phy::aggregate::Ampdu;

/// The MPDUs of the PPDU on the air that the receiver does not have yet, except the last one, which
/// ends with the PPDU.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrivals {
    /// Reception time of the next one, and its index in the PPDU.
    next: (Instant, usize),
    /// The A-MPDU up to it.
    received: Ampdu,
    mpdus: usize,
    /// The last bit of the PPDU, and its duration.
    ends: Instant,
    time: Duration,
}

impl Arrivals {
    /// The MPDUs of a PPDU that ends at `ends`, by their bytes; `time` returns the duration of a
    /// PPDU of that many bytes. `None` for a single MPDU.
    pub(super) fn new(
        ends: Instant,
        mpdus: impl ExactSizeIterator<Item = u32> + Clone,
        time: impl Fn(u32) -> Duration,
    ) -> Option<Self> {
        let count = mpdus.len();
        if count < 2 {
            return None;
        }
        let mut whole = Ampdu::new(u32::MAX, 0);
        let first = mpdus.clone().next()?;
        mpdus.for_each(|bytes| {
            whole.add(bytes);
        });
        let arrivals = Self {
            next: (ends, 0),
            received: Ampdu::new(u32::MAX, 0),
            mpdus: count,
            ends,
            time: time(whole.bytes()),
        };
        arrivals.at(0, first, time)
    }

    /// Reception time of the next MPDU, and its index in the PPDU.
    #[inline]
    pub(super) const fn next(&self) -> (Instant, usize) {
        self.next
    }

    /// The MPDUs after the next one; `bytes` returns the size of the MPDU at an index.
    pub(super) fn rest(
        self,
        bytes: impl FnOnce(usize) -> u32,
        time: impl Fn(u32) -> Duration,
    ) -> Option<Self> {
        let place = self.next.1 + 1;
        self.at(place, bytes(place), time)
    }

    /// With the MPDU at `place` as the next one; `None` if it is the last.
    fn at(mut self, place: usize, bytes: u32, time: impl Fn(u32) -> Duration) -> Option<Self> {
        self.received.add(bytes);
        let left = self.time - time(self.received.bytes());
        self.next = (
            Instant::from_nanos(self.ends.as_nanos() - left.as_nanos()),
            place,
        );
        (place + 1 < self.mpdus).then_some(self)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// A microsecond a byte after a preamble of 20 µs: MPDUs of 96, 100 and 46 bytes end after 100,
    /// 204 and 254 bytes of subframes. The last one ends with the PPDU, and is not reported.
    #[test]
    fn each_mpdu_is_received_at_its_own_last_bit() {
        let time = |bytes: u32| Duration::from_micros(20 + u64::from(bytes));
        let at = |micros| Instant::ZERO + Duration::from_micros(micros);
        let sizes = [96, 100, 46];
        let first = Arrivals::new(at(1_000), sizes.into_iter(), time).unwrap();
        assert_eq!(first.next(), (at(1_000 - 154), 0));
        let second = first.rest(|place| sizes[place], time).unwrap();
        assert_eq!(second.next(), (at(1_000 - 50), 1));
        assert!(second.rest(|place| sizes[place], time).is_none());
        assert!(Arrivals::new(at(1_000), [96].into_iter(), time).is_none());
    }

    /// Each MPDU is visited twice, however many there are: once for the whole, once for itself.
    #[test]
    fn the_work_is_in_proportion_to_the_mpdus() {
        for mpdus in [2_usize, 64, 256] {
            let looked_at = Cell::new(0);
            let look = |bytes| {
                looked_at.set(looked_at.get() + 1);
                bytes
            };
            let sizes = (0..mpdus).map(|_| look(1_538));
            let time = |bytes: u32| Duration::from_nanos(u64::from(bytes) * 123);
            let mut arrivals = Arrivals::new(Instant::from_nanos(u64::MAX / 2), sizes, time);
            let mut places = 0;
            while let Some(own) = arrivals {
                assert_eq!(own.next().1, places);
                places += 1;
                arrivals = own.rest(|_| look(1_538), time);
            }
            assert_eq!(places, mpdus - 1);
            assert!(looked_at.get() <= 2 * mpdus + 1, "{mpdus}: {looked_at:?}");
        }
    }
}
