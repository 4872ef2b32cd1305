//! Outcomes of a medium's packets, in the order in which they became known.

use std::collections::VecDeque;

use crate::frame::{Outcome, PendingPacket};

/// The stations at both ends of a transmission: from, and to.
type Ends = (u32, u32);

/// Outcomes not yet polled.
#[derive(Clone, Debug)]
pub(super) struct Outcomes<P> {
    known: VecDeque<Outcome<P>>,
    /// Whether failed attempts are reported.
    with_retries: bool,
    /// Whether acknowledgments are reported.
    with_acknowledgments: bool,
}

impl<P: Copy> Outcomes<P> {
    pub(super) const fn new(with_retries: bool) -> Self {
        Self {
            known: VecDeque::new(),
            with_retries,
            with_acknowledgments: true,
        }
    }

    /// Acknowledgments are not reported any more: a copy of each packet is saved.
    pub(super) const fn mute_acknowledgments(&mut self) {
        self.with_acknowledgments = false;
    }

    /// Whether acknowledgments are reported.
    #[inline]
    pub(super) const fn with_acknowledgments(&self) -> bool {
        self.with_acknowledgments
    }

    /// The next one, first in, first out.
    #[inline]
    pub(super) fn take(&mut self) -> Option<Outcome<P>> {
        self.known.pop_front()
    }

    /// A packet arrived, with the last of `attempts`.
    #[inline]
    pub(super) fn delivered(&mut self, packet: P, (from, to): Ends, attempts: u32) {
        self.known.push_back(Outcome::Delivered {
            packet,
            from,
            to,
            attempts,
        });
    }

    /// Its sender has the link's acknowledgment.
    #[inline]
    pub(super) fn acknowledged(&mut self, packet: P, (from, to): Ends, attempts: u32) {
        if self.with_acknowledgments {
            self.known.push_back(Outcome::Acknowledged {
                packet,
                from,
                to,
                attempts,
            });
        }
    }

    /// The last of `attempts` failed, and another follows.
    #[inline]
    pub(super) fn retried(&mut self, packet: P, (from, to): Ends, attempts: u32) {
        if self.with_retries {
            self.known.push_back(Outcome::Retried {
                packet,
                from,
                to,
                attempts,
            });
        }
    }

    /// Its sender gave it up after `attempts`; whether it `arrived` all the same.
    #[inline]
    pub(super) fn discarded(&mut self, packet: P, (from, to): Ends, attempts: u32, arrived: bool) {
        self.known.push_back(Outcome::Discarded {
            packet,
            from,
            to,
            attempts,
            arrived,
        });
    }

    /// A station gave up a packet in its queue, after all of its failures.
    pub(super) fn given_up(&mut self, from: u32, pending: &PendingPacket<P>) {
        let ends = (from, pending.to);
        self.discarded(pending.packet, ends, pending.failures, pending.arrived);
    }

    /// A queue's discipline dropped it before its first transmission.
    #[inline]
    pub(super) fn dropped(&mut self, packet: P) {
        self.known.push_back(Outcome::Dropped { packet });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(with_retries: bool) -> Vec<Outcome<char>> {
        let mut outcomes = Outcomes::new(with_retries);
        outcomes.mute_acknowledgments();
        outcomes.retried('a', (1, 0), 1);
        outcomes.delivered('a', (1, 0), 2);
        outcomes.acknowledged('a', (1, 0), 2);
        outcomes.discarded('b', (0, 2), 7, true);
        outcomes.retried('c', (0, 2), 1);
        std::iter::from_fn(|| outcomes.take()).collect()
    }

    #[test]
    fn acknowledgments_are_told_unless_nobody_waits_for_them() {
        let mut outcomes = Outcomes::new(false);
        outcomes.acknowledged('a', (1, 0), 2);
        let told = outcomes.take();
        assert!(matches!(
            told,
            Some(Outcome::Acknowledged { packet: 'a', .. })
        ));
        outcomes.mute_acknowledgments();
        outcomes.acknowledged('b', (1, 0), 1);
        assert_eq!(outcomes.take(), None);
    }

    /// Without reports of failed attempts the other outcomes are the same, in the same order.
    #[test]
    fn failed_attempts_are_told_to_those_who_ask() {
        let (all, without) = (told(true), told(false));
        let is_retried = |outcome: &&Outcome<char>| matches!(outcome, Outcome::Retried { .. });
        assert_eq!(all.iter().filter(is_retried).count(), 2);
        let others = all.iter().filter(|outcome| !is_retried(outcome));
        assert_eq!(others.copied().collect::<Vec<_>>(), without);
        let first = Outcome::Delivered {
            packet: 'a',
            from: 1,
            to: 0,
            attempts: 2,
        };
        assert_eq!(without[0], first);
        assert_eq!(without.len(), 2);
    }
}
