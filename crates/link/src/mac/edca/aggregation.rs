//! Building an A-MPDU.

use airtcp_units::{Duration, Instant};

use super::agreement::Mpdu;
use super::config::EdcaConfig;
use super::contender::{Contender, Sent};
use super::peer::FrameLimits;
use super::queueing::Backlog;
use crate::mac::dcf::LLC_BYTES;
use crate::phy::aggregate::{Ampdu, amsdu_with};
use crate::phy::{Family, Mode};
use crate::queue::EcnField;
use crate::rate_control::Choice;

/// A PPDU with data, without its packets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ppdu {
    pub to: u32,
    pub mode: Mode,
    /// Bytes of its PSDU.
    pub bytes: u32,
    pub mpdus: u32,
    pub time: Duration,
    /// The flow of its first packet, and that packet's number of earlier transmissions.
    pub flow: u32,
    pub failures: u32,
    /// Whether its rate control requests RTS.
    pub needs_rts: bool,
}

/// Maximum number of cached results: the time left in a TXOP takes many values.
const MAX_KNOWN: usize = 64;

/// Maximum bytes of an A-MPDU for each mode and time seen so far.
#[derive(Clone, Debug, Default)]
pub(super) struct ByteLimits(Vec<(Mode, Duration, u32)>);

impl ByteLimits {
    /// Maximum bytes in this mode of a PPDU of at most `time`.
    fn of(&mut self, config: &EdcaConfig, mode: Mode, time: Duration) -> u32 {
        if !mode.aggregates() {
            // A single frame, whatever its length.
            return u32::MAX;
        }
        let known = self.0.iter().find(|row| (row.0, row.1) == (mode, time));
        if let Some(&(.., bytes)) = known {
            return bytes;
        }
        let extension = config.phy.signal_extension(mode);
        let most = mode.max_psdu_bytes(time - extension, config.phy.packet_padding());
        let bytes = most.min(config.ampdu.bytes);
        if self.0.len() == MAX_KNOWN {
            self.0.clear();
        }
        self.0.push((mode, time, bytes));
        bytes
    }
}

impl<P: Copy + EcnField> Contender<P> {
    /// Chooses a destination and its mode, and takes as many of its packets as fit into a PPDU of
    /// `most`: first retransmissions, in order, then new packets, while the block ACK window is
    /// open. `choose_mode` gets the station, and the number of unanswered PPDUs with the same first
    /// MPDU. `None` if there is nothing to send, or with `must_fit` if the first does not fit.
    pub(super) fn aggregate(
        &mut self,
        now: Instant,
        config: &EdcaConfig,
        limits: &mut ByteLimits,
        mut choose_mode: impl FnMut(u32, u32) -> Choice,
        (most, must_fit): (Duration, bool),
    ) -> Option<Ppdu> {
        debug_assert!(self.burst.is_empty());
        // A discipline may drop all packets of a destination.
        for _ in 0..=self.agreements.len() {
            let agreements = &self.agreements;
            let first_retry = |place: usize| agreements[place].first_retry().map(|mpdu| mpdu.order);
            let place = self.backlog.choose(now, first_retry)?;
            let failures = self.agreements[place].failures();
            let Choice {
                mode,
                is_probe,
                needs_rts,
            } = choose_mode(self.station_at(place), failures);
            let bytes = limits.of(config, mode, most);
            if must_fit && !(mode.aggregates() && self.first_fits(now, place, bytes)) {
                self.backlog.put_back(place);
                return None;
            }
            // Drivers send a probe as a single MPDU.
            let mpdus = if is_probe { 1 } else { u16::MAX };
            let length = self.fill(now, place, Ampdu::new(bytes, 0), mpdus);
            self.backlog.on_aggregate(place, self.burst.is_empty());
            let Some(first) = self.burst.first().map(|sent| &sent.mpdu) else {
                continue;
            };
            self.to = place;
            return Some(Ppdu {
                to: self.station_at(place),
                mode,
                bytes: match (mode.family(), self.burst.len()) {
                    // A single MPDU of 802.11n needs no delimiter; later standards always have one
                    // (IEEE 802.11-2020 §10.12.7).
                    (Family::Ht, 1) | (Family::Dsss | Family::Ofdm, _) => first.bytes,
                    _ => length,
                },
                mpdus: self.burst.len() as u32,
                time: Duration::ZERO,
                flow: first.flow,
                failures: first.failures,
                needs_rts,
            });
        }
        None
    }

    /// Takes packets for a destination until the A-MPDU is full; returns its bytes.
    fn fill(&mut self, now: Instant, place: usize, mut ampdu: Ampdu, mpdus: u16) -> u32 {
        let agreement = &mut self.agreements[place];
        let limits = agreement.limits;
        let most = usize::from(mpdus.min(limits.mpdus));
        let length = |bytes: u32| bytes.saturating_add(limits.overhead);
        let sent = |mpdu| Sent {
            mpdu,
            is_damaged: false,
        };
        while self.burst.len() < most
            && let Some(retry) = agreement.first_retry()
            && ampdu.add(retry.bytes)
            && let Some(retry) = agreement.take_retry()
        {
            self.retries -= retry.count();
            self.burst.push(sent(retry));
        }
        while self.burst.len() < most
            && agreement.is_open()
            && let Some(ready) = self.backlog.peek(now, place)
        {
            let bytes = length(ready.waiting.bytes);
            let has_room = if limits.amsdu > 0 {
                // More packets may join it.
                ampdu.mpdus() == 0 || ampdu.has_room(bytes)
            } else {
                ampdu.add(bytes)
            };
            if !has_room {
                break;
            }
            let number = agreement.number();
            let burst = &mut self.burst;
            self.backlog.take(place, |ready, airtime| {
                burst.push(sent(Mpdu {
                    number,
                    order: ready.order,
                    bytes,
                    packet: ready.waiting.packet,
                    flow: ready.waiting.flow,
                    class: ready.waiting.class,
                    failures: 0,
                    arrived: false,
                    rest: Vec::new(),
                    airtime,
                }));
            });
            if limits.amsdu > 0
                && let Some(Sent { mpdu, .. }) = self.burst.last_mut()
            {
                add_packets(mpdu, &mut self.backlog, (now, place), &ampdu, limits);
                ampdu.add(mpdu.bytes);
            }
        }
        ampdu.bytes()
    }

    /// Whether the first packet for a destination fits into that many bytes.
    fn first_fits(&mut self, now: Instant, place: usize, most: u32) -> bool {
        let overhead = self.agreements[place].limits.overhead;
        let retry = self.agreements[place].first_retry();
        let first = match retry.map(|mpdu| mpdu.bytes) {
            Some(bytes) => Some(bytes),
            None => self
                .backlog
                .peek(now, place)
                .map(|ready| ready.waiting.bytes.saturating_add(overhead)),
        };
        let mut alone = Ampdu::new(most, 0);
        first.is_some_and(|bytes| alone.add(bytes) && alone.bytes() <= most)
    }
}

/// Adds the next packets to an MPDU, as far as an A-MSDU and the A-MPDU have room (IEEE 802.11-2020
/// §9.3.2.2, §10.11).
fn add_packets<P: Copy + EcnField>(
    mpdu: &mut Mpdu<P>,
    backlog: &mut Backlog<P>,
    (now, place): (Instant, usize),
    ampdu: &Ampdu,
    limits: FrameLimits,
) {
    // Around the body: the MAC's header and FCS. Each packet in it has a separate LLC header.
    let around = limits.overhead.saturating_sub(LLC_BYTES);
    let mut body = amsdu_with(0, mpdu.bytes - around.min(mpdu.bytes));
    while let Some(next) = backlog.peek(now, place) {
        let longer = amsdu_with(body, next.waiting.bytes.saturating_add(LLC_BYTES));
        let bytes = longer.saturating_add(around);
        if longer > limits.amsdu || !ampdu.has_room(bytes) {
            return;
        }
        body = longer;
        mpdu.bytes = bytes;
        backlog.take(place, |next, airtime| {
            mpdu.airtime += airtime;
            mpdu.rest.push(next.waiting.packet);
        });
    }
}
