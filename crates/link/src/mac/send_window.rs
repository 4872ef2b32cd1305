//! The numbers of frames, and how many of them may be outstanding.

use std::collections::VecDeque;
use std::num::NonZeroU32;

/// The number of frames that may be outstanding: transmitted, and neither acknowledged nor given
/// up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// Any number.
    Unlimited,
    /// At most this many at a time, whichever they are. The textbook's window with an efficiency of
    /// W/(1 + 2a)·(1 − p).
    Outstanding(NonZeroU32),
    /// Frames are numbered, and no number may be this far ahead of the oldest outstanding one: the
    /// window of IEEE 802.16-2009 §6.3.4.6.1, of 3GPP TS 25.322 §9.4 and of an IEEE 802.11 block
    /// ACK agreement. A frame that fails repeatedly eventually stops later ones.
    Numbers(NonZeroU32),
}

/// The sender's window.
#[derive(Clone, Debug)]
pub(crate) struct SendWindow {
    limit: Window,
    /// The oldest outstanding number, or the next one if no frame is outstanding.
    base: u64,
    /// From `base`, whether each frame is settled: acknowledged or discarded.
    settled: VecDeque<bool>,
    outstanding: u64,
}

impl SendWindow {
    pub(crate) const fn new(limit: Window) -> Self {
        Self {
            limit,
            base: 0,
            settled: VecDeque::new(),
            outstanding: 0,
        }
    }

    /// Whether the window allows a new frame.
    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        match self.limit {
            Window::Unlimited => true,
            Window::Outstanding(most) => self.outstanding < u64::from(most.get()),
            Window::Numbers(most) => (self.settled.len() as u64) < u64::from(most.get()),
        }
    }

    /// The oldest outstanding number, or the next one if no frame is outstanding.
    pub(crate) const fn base(&self) -> u64 {
        self.base
    }

    /// Numbers from there to the last.
    pub(crate) fn span(&self) -> usize {
        self.settled.len()
    }

    /// The number of a frame that is transmitted for the first time.
    #[inline]
    pub(crate) fn number(&mut self) -> u64 {
        let number = self.base + self.settled.len() as u64;
        self.settled.push_back(false);
        self.outstanding += 1;
        number
    }

    /// Settles a frame, acknowledged or discarded; to be called once for each.
    #[inline]
    pub(crate) fn settle(&mut self, number: u64) {
        if number == self.base && self.settled.pop_front().is_some() {
            self.base += 1;
            self.outstanding -= 1;
        } else {
            let place = usize::try_from(number - self.base).unwrap_or(usize::MAX);
            if let Some(settled) = self.settled.get_mut(place) {
                *settled = true;
                self.outstanding -= 1;
            }
        }
        while self.settled.front() == Some(&true) {
            self.settled.pop_front();
            self.base += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: NonZeroU32 = NonZeroU32::new(2).unwrap();

    /// Frames 0 and 1 are outstanding. Once 1 is acknowledged another may follow where outstanding
    /// frames count; where numbers count, 2 is two ahead of 0 and may not.
    #[test]
    fn an_old_frame_holds_up_numbers_and_not_counts() {
        for (limit, is_open) in [
            (Window::Unlimited, true),
            (Window::Outstanding(TWO), true),
            (Window::Numbers(TWO), false),
        ] {
            let mut window = SendWindow::new(limit);
            assert_eq!((window.number(), window.is_open()), (0, true), "{limit:?}");
            assert_eq!(window.number(), 1);
            assert_eq!(window.is_open(), limit == Window::Unlimited, "{limit:?}");
            window.settle(1);
            assert_eq!(window.is_open(), is_open, "{limit:?}");
            window.settle(0);
            assert_eq!((window.is_open(), window.number()), (true, 2), "{limit:?}");
        }
    }
}
