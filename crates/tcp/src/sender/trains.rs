//! Trains: segments that one event lets leave together. Linux hands each to segmentation offload in
//! one piece, and has its last segment pushed so that the receiver does not wait for more of it
//! (`tcp_write_xmit`, `tcp_tso_autosize` and `__tcp_transmit_skb`).

/// The train that is leaving.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trains {
    pushes: bool,
    /// Whether it is of two or more.
    several: bool,
    /// Segments of it that have not left: offload takes 64 KiB at most.
    left: u8,
}

impl Trains {
    /// `pushes`: the last of several segments is pushed.
    pub const fn new(pushes: bool) -> Self {
        Self {
            pushes,
            several: false,
            left: 0,
        }
    }

    /// Whether anything depends on trains.
    #[inline]
    pub const fn is_enabled(self) -> bool {
        self.pushes
    }

    /// Ends the train: another event decides what leaves now.
    #[inline]
    pub const fn end(&mut self) {
        self.left = 0;
    }

    /// Whether the next segment begins a train.
    #[inline]
    pub const fn begins(self) -> bool {
        self.left == 0
    }

    /// Begins a train of `length` segments.
    pub fn begin(&mut self, length: u64) {
        self.left = u8::try_from(length).unwrap_or(u8::MAX).max(1);
        self.several = self.left > 1;
    }

    /// Records that a segment leaves. Returns whether it is the last of several.
    #[inline]
    pub const fn on_sent(&mut self) -> bool {
        self.left = self.left.saturating_sub(1);
        self.left == 0 && self.several
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A train of three and one of one; one of two that another event ends after the first.
    #[test]
    fn the_last_of_several_is_pushed() {
        let mut trains = Trains::new(true);
        let mut leave = |length, ends| {
            if trains.begins() {
                trains.begin(length);
            }
            let pushed = trains.on_sent();
            if ends {
                trains.end();
            }
            pushed
        };
        let pushed = [3, 9, 9, 1].map(|length| leave(length, false));
        assert_eq!(pushed, [false, false, true, false]);
        assert!(!leave(2, true));
        assert_eq!([2, 9].map(|length| leave(length, false)), [false, true]);
    }
}
