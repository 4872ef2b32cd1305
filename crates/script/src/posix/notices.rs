//! Notices of zero-copy sends (MSG_ZEROCOPY), read from the error queue.

use std::collections::VecDeque;

/// Zero-copy sends, numbered from zero: each is reported once all of it is acknowledged (Linux,
/// `Documentation/networking/msg_zerocopy.rst`).
#[derive(Debug, Default)]
pub struct Notices {
    /// Whether the socket requests them (SO_ZEROCOPY).
    pub wanted: bool,
    sent: u32,
    /// The number of the first send with an unreported completion.
    untold: u32,
    /// End of each send's data in the stream, from `untold` on.
    ends: VecDeque<u64>,
}

impl Notices {
    /// Records a send with data up to `end`.
    pub fn on_sent(&mut self, end: u64) {
        if self.wanted {
            self.sent += 1;
            self.ends.push_back(end);
        }
    }

    /// Number of completed sends still to be reported, with everything below `una` acknowledged.
    pub fn pending(&self, una: u64) -> u32 {
        let done = self.ends.iter().take_while(|&&end| end <= una).count();
        u32::try_from(done).unwrap_or(u32::MAX)
    }

    /// Total number of completed sends.
    pub fn done(&self, una: u64) -> u32 {
        self.untold + self.pending(una)
    }

    /// Takes the notice: the first and the last number of its sends. Consecutive sends share one.
    pub fn take(&mut self, una: u64) -> Option<(u32, u32)> {
        let count = self.pending(una);
        let first = self.untold;
        self.ends.drain(..count as usize);
        self.untold += count;
        (count > 0).then(|| (first, first + count - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of three sends the first two are acknowledged: one notice of both, then one of the third.
    #[test]
    fn neighbours_share_a_notice() {
        let mut notices = Notices {
            wanted: true,
            ..Notices::default()
        };
        for end in [4000, 8000, 12_000] {
            notices.on_sent(end);
        }
        assert_eq!(notices.take(3999), None);
        assert_eq!((notices.pending(8000), notices.done(8000)), (2, 2));
        assert_eq!(notices.take(8000), Some((0, 1)));
        assert_eq!(notices.take(8000), None);
        assert_eq!((notices.pending(12_000), notices.done(12_000)), (1, 3));
        assert_eq!(notices.take(12_000), Some((2, 2)));
    }
}
