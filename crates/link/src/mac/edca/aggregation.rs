//! Putting an A-MPDU together.

use airtcp_units::{Duration, Instant};

use super::agreement::Mpdu;
use super::config::EdcaConfig;
use super::contender::{Contender, Sent};
use crate::phy::aggregate::Ampdu;
use crate::phy::{Family, Mode};
use crate::queue::EcnField;

/// A PPDU with data, without its packets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ppdu {
    pub to: u32,
    pub mode: Mode,
    /// Bytes of its PSDU.
    pub bytes: u32,
    pub mpdus: u32,
    pub time: Duration,
    /// The flow of its first packet, and how often that was sent before.
    pub flow: u32,
    pub failures: u32,
}

/// Most results that are cached: the time left in a TXOP takes many values.
const MOST_KNOWN: usize = 64;

/// Most bytes of an A-MPDU in each mode and time that came up.
#[derive(Clone, Debug, Default)]
pub(super) struct ByteLimits(Vec<(Mode, Duration, u32)>);

impl ByteLimits {
    /// Most bytes in this mode of a PPDU that lasts `time` at most.
    fn of(&mut self, config: &EdcaConfig, mode: Mode, time: Duration) -> u32 {
        let known = self.0.iter().find(|row| (row.0, row.1) == (mode, time));
        if let Some(&(.., bytes)) = known {
            return bytes;
        }
        let extension = config.phy.signal_extension(mode);
        let most = mode.max_psdu_bytes(time - extension, config.phy.packet_padding());
        let bytes = most.min(config.ampdu.bytes);
        if self.0.len() == MOST_KNOWN {
            self.0.clear();
        }
        self.0.push((mode, time, bytes));
        bytes
    }
}

impl<P: Copy + EcnField> Contender<P> {
    /// Chooses a destination and takes as many of its packets as fit into a PPDU of `most`: first
    /// what is to be retransmitted, in order, then what was never sent, while the block ACK window
    /// is open. `None` where there is nothing, or with `must_fit` where the first does not fit.
    pub(super) fn aggregate(
        &mut self,
        now: Instant,
        config: &EdcaConfig,
        limits: &mut ByteLimits,
        mode_of: impl Fn(u32) -> Mode,
        (most, must_fit): (Duration, bool),
    ) -> Option<Ppdu> {
        debug_assert!(self.burst.is_empty());
        // A discipline may drop all that there was for a destination.
        for _ in 0..=self.agreements.len() {
            let agreements = &self.agreements;
            let first_retry = |place: usize| agreements[place].first_retry().map(|mpdu| mpdu.order);
            let place = self.backlog.choose(first_retry)?;
            let mode = mode_of(self.mobile_at(place));
            let bytes = limits.of(config, mode, most);
            if must_fit && !self.first_fits(now, place, bytes, config.overhead) {
                return None;
            }
            let length = self.fill(now, place, Ampdu::new(bytes, 0), config);
            let Some(first) = self.burst.first().map(|sent| sent.mpdu.pending) else {
                continue;
            };
            self.to = place;
            return Some(Ppdu {
                to: self.station_at(place),
                mode,
                bytes: match (mode.family(), self.burst.len()) {
                    // A single MPDU of 802.11n needs no delimiter; later standards always have one
                    // (IEEE 802.11-2020 §10.12.7).
                    (Family::Ht, 1) => first.offer.bytes.saturating_add(config.overhead),
                    _ => length,
                },
                mpdus: self.burst.len() as u32,
                time: Duration::ZERO,
                flow: first.offer.flow,
                failures: first.failures,
            });
        }
        None
    }

    /// Takes packets for a destination until the A-MPDU is full; its bytes.
    fn fill(&mut self, now: Instant, place: usize, mut ampdu: Ampdu, config: &EdcaConfig) -> u32 {
        let agreement = &mut self.agreements[place];
        let most = usize::from(config.ampdu.mpdus.min(config.block_ack.window));
        let length = |bytes: u32| bytes.saturating_add(config.overhead);
        let sent = |mpdu| Sent {
            mpdu,
            is_damaged: false,
        };
        while self.burst.len() < most
            && let Some(retry) = agreement.first_retry()
            && ampdu.add(length(retry.pending.offer.bytes))
            && let Some(retry) = agreement.take_retry()
        {
            self.retries -= 1;
            self.burst.push(sent(retry));
        }
        while self.burst.len() < most
            && agreement.is_open()
            && let Some(ready) = self.backlog.peek(now, place)
            && ampdu.add(length(ready.pending.offer.bytes))
            && let Some(ready) = self.backlog.take(place)
        {
            self.burst.push(sent(Mpdu {
                number: agreement.number(),
                order: ready.order,
                pending: ready.pending,
                airtime: ready.airtime,
            }));
        }
        ampdu.bytes()
    }

    /// Whether the first packet for a destination fits into that many bytes.
    fn first_fits(&mut self, now: Instant, place: usize, most: u32, overhead: u32) -> bool {
        let retry = self.agreements[place].first_retry();
        let first = match retry.map(|mpdu| mpdu.pending.offer.bytes) {
            Some(bytes) => Some(bytes),
            None => self
                .backlog
                .peek(now, place)
                .map(|ready| ready.pending.offer.bytes),
        };
        let mut alone = Ampdu::new(most, 0);
        first
            .is_some_and(|bytes| alone.add(bytes.saturating_add(overhead)) && alone.bytes() <= most)
    }
}
