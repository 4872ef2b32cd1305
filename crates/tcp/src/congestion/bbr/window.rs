//! The window: its growth towards its target, and its value before a recovery or a measurement of
//! the round trip reduced it (`bbr_set_cwnd`, `bbr_save_cwnd`; draft-ietf-ccwg-bbr §5.6.4).

use crate::congestion::windows::Windows;
use crate::congestion::{Ack, Repairing};

/// The minimum window, in bytes: four segments.
pub const fn least(windows: &Windows) -> u64 {
    4 * windows.mss
}

/// Moves the window towards `target`: up by the bytes delivered, and, once the pipe is `full`, down
/// to it at once. Until an `initial` window is delivered it grows whatever the target.
#[inline]
pub fn approach(target: u64, full: bool, initial: u64, ack: &Ack, windows: &mut Windows) {
    if full {
        windows.cwnd = (windows.cwnd + ack.delivered).min(target);
    } else if windows.cwnd < target || ack.delivered_in_all < initial {
        windows.cwnd += ack.delivered;
    }
    windows.cwnd = windows.cwnd.max(least(windows));
}

/// The last good window, and the repair at the last acknowledgment.
#[derive(Clone, Debug)]
pub struct LastGood {
    /// In bytes.
    pub(super) cwnd: u64,
    /// The repair in progress.
    pub(super) repairing: Repairing,
}

impl LastGood {
    /// No window saved, no repair.
    pub const NONE: Self = Self {
        cwnd: 0,
        repairing: Repairing::Nothing,
    };

    /// Saves the window of `cwnd` bytes, or keeps the larger one during a repair or while the round
    /// trip is probed.
    pub fn save(&mut self, cwnd: u64, is_probing_rtt: bool) {
        self.cwnd = if self.repairing == Repairing::Nothing && !is_probing_rtt {
            cwnd
        } else {
            self.cwnd.max(cwnd)
        };
    }

    /// Restores the window.
    pub fn restore(&self, windows: &mut Windows) {
        windows.cwnd = windows.cwnd.max(self.cwnd);
    }

    /// Takes the repair in progress, and returns the previous one.
    pub const fn replace_repair(&mut self, repairing: Repairing) -> Repairing {
        core::mem::replace(&mut self.repairing, repairing)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testbed::{MSS, START, plain, windows};
    use super::*;

    /// Until an initial window is delivered the window grows whatever the target (`bbr_set_cwnd`).
    #[test]
    fn the_first_window_grows_by_what_is_delivered() {
        let window = |delivered_in_all| {
            let mut windows = windows(10);
            let ack = Ack {
                delivered: 2 * MSS,
                delivered_in_all,
                ..plain(START, 5)
            };
            approach(4 * MSS, false, 10 * MSS, &ack, &mut windows);
            windows.cwnd / MSS
        };
        assert_eq!(window(9999), 12);
        assert_eq!(window(10_000), 10);
    }

    /// The window before a repair or a probe of the round trip, or the larger one during them.
    #[test]
    fn the_last_good_window_is_kept() {
        let kept = |is_probing_rtt, repairing, cwnd| {
            let mut last = LastGood {
                cwnd: 50,
                repairing,
            };
            last.save(cwnd, is_probing_rtt);
            last.cwnd
        };
        let (none, fast) = (Repairing::Nothing, Repairing::FastRecovery);
        assert_eq!(kept(false, none, 20), 20);
        assert_eq!(kept(false, fast, 20), 50);
        assert_eq!(kept(false, fast, 60), 60);
        assert_eq!(kept(true, none, 20), 50);
    }
}
