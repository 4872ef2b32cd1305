//! Halves of the round trip from the timestamps option (RFC 7323).
//!
//! ```text
//!   wired sender          access point            mobile
//!        |  --- TSval = v ------> t1 ----------->  |
//!        |                                         |
//!        |  <----- t2, TSval = m, TSecr = v -----  |     t2 - t1: wireless half
//!        |                                         |
//!        |  --- TSecr = m ------> t3 ----------->  |     t3 - t2: wired half
//! ```
//!
//! The first passage of a stamp is matched with the first of its echo: a coarse clock, with the
//! same stamp on many packets, gives fewer samples but no worse ones.

use std::collections::VecDeque;

use airtcp_packet::SequenceNumber;
use airtcp_units::{Duration, Instant};

/// Maximum number of stamps that wait for their echo. Beyond it, new ones are not recorded.
const MAX_WAITING: usize = 64;

/// Stamps of one host that wait for their echo.
#[derive(Clone, Debug)]
pub(super) struct Stamps<T> {
    /// The newest that passed, recorded or not. Stamps have the arithmetic of sequence numbers
    /// (RFC 7323 §5.2).
    newest: Option<SequenceNumber>,
    /// First passages, oldest first, each with the owner's note.
    waiting: VecDeque<(SequenceNumber, Instant, T)>,
}

impl<T> Stamps<T> {
    pub(super) const fn new() -> Self {
        Self {
            newest: None,
            waiting: VecDeque::new(),
        }
    }

    /// A segment stamped `value` passes.
    pub(super) fn on_stamp(&mut self, now: Instant, value: u32, note: T) {
        let value = SequenceNumber(value);
        if self.newest.is_some_and(|newest| !value.after(newest)) {
            return;
        }
        self.newest = Some(value);
        if self.waiting.len() < MAX_WAITING {
            self.waiting.push_back((value, now, note));
        }
    }

    /// A segment that echoes `echo` passes. Returns the time since the stamp's first passage if
    /// this is its first echo. Older stamps will not be echoed any more.
    pub(super) fn on_echo(&mut self, now: Instant, echo: u32) -> Option<(Duration, T)> {
        let echo = SequenceNumber(echo);
        while let Some(&(stamp, _, _)) = self.waiting.front() {
            if stamp.after(echo) {
                return None;
            }
            let (_, passed, note) = self.waiting.pop_front()?;
            if stamp == echo {
                return Some((now - passed, note));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    /// Stamp 5 passes at 10 and 12, its echo at 40 and 45: one sample of 30. Stamp 6 is never
    /// echoed; 7 from 20 to 60 gives 40. An echo of an unseen stamp gives nothing.
    #[test]
    fn the_first_of_each_are_matched() {
        for wrap in [0, u32::MAX - 5] {
            let mut stamps = Stamps::new();
            for (now, stamp) in [(10, 5), (12, 5), (15, 6), (20, 7), (22, 6)] {
                stamps.on_stamp(at(now), wrap.wrapping_add(stamp), stamp);
            }
            let mut echo = |now, echo: u32| stamps.on_echo(at(now), wrap.wrapping_add(echo));
            assert_eq!(echo(30, 4), None);
            assert_eq!(echo(40, 5), Some((Duration::from_millis(30), 5)));
            assert_eq!(echo(45, 5), None);
            assert_eq!(echo(60, 7), Some((Duration::from_millis(40), 7)));
            assert_eq!(echo(61, 6), None);
            assert_eq!(echo(62, 9), None);
        }
    }

    /// With more stamps in transit than are recorded, the recorded ones still match.
    #[test]
    fn a_full_list_goes_on_measuring() {
        let mut stamps = Stamps::new();
        let mut samples = 0;
        for now in 0..1_000_u32 {
            stamps.on_stamp(at(u64::from(now)), now, ());
            if now >= 200 {
                let sample = stamps.on_echo(at(u64::from(now)), now - 200);
                assert!(sample.is_none_or(|(sample, ())| sample == Duration::from_millis(200)));
                samples += u32::from(sample.is_some());
            }
            assert!(stamps.waiting.len() <= MAX_WAITING);
        }
        // 64 of the 201 that pass before the first echo, then four more such rounds, one cut short.
        assert!((200..=330).contains(&samples), "{samples}");
    }
}
