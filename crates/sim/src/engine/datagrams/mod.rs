//! Flows that are not TCP: datagrams one way, and pings there and back.
//!
//! ```text
//!   client ── datagram ──▶ server          udp, ping, scream
//!          ◀── answer ────                 ping; feedback of scream
//! ```
//!
//! They yield the same numbers as TCP's packets, from the same measurements: the one-way delay of
//! datagrams, and the round trip of pings.

mod media;
mod scream;
mod source;

use airtcp_link::Stream;
use airtcp_network::Content;
use airtcp_scenario::{Datagrams, Ping, Udp};
use airtcp_units::{Duration, Instant};

use super::watch::{PingEvent, Watch};
use super::{Endpoints, Host, Net, Packet};
use media::Media;
use source::Source;

/// The datagrams of a flow.
#[derive(Clone, Debug)]
pub(super) struct Exchange {
    config: Datagrams,
    sending: Sending,
    counts: DatagramCounts,
    jitter: Jitter,
}

/// The cause of a datagram's departure.
#[derive(Clone, Debug)]
enum Sending {
    /// A clock, or room in the first queue.
    Source(Source),
    /// Feedback.
    Media(Box<Media>),
}

/// The fates of a flow's datagrams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DatagramCounts {
    /// Sent by the flow's sender.
    pub sent: u64,
    /// Datagrams that arrived.
    pub received: u64,
    /// Datagrams that found a queue full or were lost on the way.
    pub lost: u64,
    /// Pings that were answered.
    pub answered: u64,
    /// Answers that were lost.
    pub answers_lost: u64,
    /// Received datagrams that took longer than [`LATE`].
    pub late: u64,
}

/// A packet of a call that takes longer than this is late: its voice has been played without it.
pub const LATE: Duration = Duration::from_millis(100);

/// Interarrival jitter (RFC 3550 §6.4.1), in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
struct Jitter {
    last: Option<Duration>,
    mean: f64,
}

impl Jitter {
    /// Takes the transit time of a datagram.
    fn on_arrival(&mut self, transit: Duration) {
        if let Some(last) = self.last.replace(transit) {
            let difference = transit.as_nanos().abs_diff(last.as_nanos()) as f64;
            self.mean += (difference - self.mean) / 16.0;
        }
    }
}

impl Exchange {
    pub(super) fn new(config: Datagrams, start: Instant, draws: Stream) -> Self {
        let sending = match config {
            Datagrams::Scream(scream) => Sending::Media(Box::new(Media::new(scream, start))),
            Datagrams::Udp(_) | Datagrams::Ping(_) => {
                Sending::Source(Source::new(&config, start, draws))
            }
        };
        Self {
            config,
            sending,
            counts: DatagramCounts::default(),
            jitter: Jitter::default(),
        }
    }

    /// The fates of its datagrams.
    pub(super) const fn counts(&self) -> DatagramCounts {
        self.counts
    }

    /// Bytes of payload that arrived; pings carry no data.
    pub(super) const fn delivered(&self) -> u64 {
        match self.config {
            Datagrams::Udp(udp) => self.counts.received * udp.size as u64,
            Datagrams::Ping(_) => 0,
            Datagrams::Scream(_) => match &self.sending {
                Sending::Media(media) => media.delivered(),
                Sending::Source(_) => 0,
            },
        }
    }

    /// Interarrival jitter at the end; `None` before the second arrival.
    pub(super) fn jitter(&self) -> Option<Duration> {
        (self.counts.received > 1)
            .then(|| Duration::from_secs_f64(self.jitter.mean / 1e9))
            .flatten()
    }

    /// Whether it carries data, for which flows compete.
    pub(super) const fn carries_data(&self) -> bool {
        matches!(self.config, Datagrams::Udp(_) | Datagrams::Scream(_))
    }

    const fn under_way(&self) -> u64 {
        self.counts.sent - self.counts.received - self.counts.lost
    }

    /// Whether it sends whenever a packet has left the network.
    fn may_refill(&self, now: Instant) -> bool {
        match &self.sending {
            Sending::Source(source) => source.may_refill(now, self.under_way()),
            Sending::Media(_) => false,
        }
    }
}

impl<W: Watch> Endpoints<'_, W> {
    /// A datagram reaches the host at the other end, or a ping's answer its sender.
    #[inline(never)]
    pub(super) fn on_datagram(&mut self, network: &mut Net, packet: &Packet, host: Host) {
        let now = network.now();
        let flow = &mut self.flows[packet.flow as usize];
        let Some(exchange) = &mut flow.datagrams else {
            return;
        };
        self.digest.take(now, u64::from(packet.flow), packet.index);
        if let Sending::Media(_) = exchange.sending {
            return self.on_media(network, packet, host);
        }
        if host == Host::Client {
            exchange.counts.answered += 1;
            flow.latency.on_answer(now, packet.carried);
            self.watch
                .ping(now, packet.flow, packet.carried, PingEvent::Answered);
            return;
        }
        exchange.counts.received += 1;
        exchange.counts.late += u64::from(now - packet.carried > LATE);
        exchange.jitter.on_arrival(now - packet.carried);
        flow.latency.on_arrival(now, packet.carried);
        match exchange.config {
            Datagrams::Ping(ping) => {
                let bytes = exchange.config.packet_bytes(ping.size);
                let answers = flow.latency.answer();
                let answer = flow.server.port.packet(Content::Other(bytes), answers);
                self.watch
                    .ping(now, packet.flow, packet.carried, PingEvent::Arrived);
                network.send(answer, self);
            }
            Datagrams::Udp(_) => {
                // If a path takes no time, this would never end.
                let took_time = now > packet.carried;
                if took_time && exchange.may_refill(now) {
                    self.send_datagram(network, packet.flow);
                }
            }
            Datagrams::Scream(_) => {}
        }
    }

    /// A datagram or an answer was lost.
    pub(super) fn on_datagram_loss(&mut self, network: &Net, packet: &Packet) {
        let to_client = network.destination(packet) == Host::Client;
        if let Some(exchange) = &mut self.flows[packet.flow as usize].datagrams {
            let counts = &mut exchange.counts;
            let (count, event) = if to_client {
                (&mut counts.answers_lost, PingEvent::AnswerLost)
            } else {
                (&mut counts.lost, PingEvent::RequestLost)
            };
            *count += 1;
            if let Datagrams::Ping(_) = exchange.config {
                self.watch
                    .ping(network.now(), packet.flow, packet.carried, event);
            }
        }
    }

    /// The datagrams of flow number `index` are due.
    #[inline(never)]
    pub(super) fn on_datagram_timer(&mut self, network: &mut Net, index: u32) {
        let now = network.now();
        let Some(exchange) = &mut self.flows[index as usize].datagrams else {
            return;
        };
        let Sending::Source(source) = &mut exchange.sending else {
            return self.on_media_timer(network, index);
        };
        if source.take_due(now) {
            let fills = source.is_saturated();
            while self.send_datagram(network, index) && fills {}
        }
        let flow = &mut self.flows[index as usize];
        if let Some(exchange) = &flow.datagrams
            && let Sending::Source(source) = &exchange.sending
        {
            network.rearm(&mut flow.client.alarm, source.next());
        }
    }

    /// Sends a datagram; returns whether a source that sends whenever there is room would send
    /// another.
    fn send_datagram(&mut self, network: &mut Net, index: u32) -> bool {
        let now = network.now();
        let flow = &mut self.flows[index as usize];
        let Some(exchange) = &mut flow.datagrams else {
            return false;
        };
        exchange.counts.sent += 1;
        let lost = exchange.counts.lost;
        let payload = match exchange.config {
            Datagrams::Udp(Udp { size, .. }) | Datagrams::Ping(Ping { size, .. }) => size,
            Datagrams::Scream(_) => return false,
        };
        let content = Content::Other(exchange.config.packet_bytes(payload));
        let packet = flow.client.port.packet(content, now);
        if let Datagrams::Ping(_) = exchange.config {
            self.watch.ping(now, index, now, PingEvent::Sent);
        }
        network.send(packet, self);
        self.flows[index as usize]
            .datagrams
            .as_ref()
            .is_some_and(|exchange| exchange.counts.lost == lost && exchange.may_refill(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Transit times of 10, 26, 26 and 10 ms differ by 16, 0 and 16 ms: J is 1, then 1 - 1/16, then
    /// that and (16 - J)/16 (RFC 3550 §6.4.1).
    #[test]
    fn jitter_is_the_rfcs() {
        let mut jitter = Jitter::default();
        for millis in [10, 26, 26, 10] {
            jitter.on_arrival(Duration::from_millis(millis));
        }
        let second = 1.0 - 1.0 / 16.0;
        let expected = second + (16.0 - second) / 16.0;
        assert!(
            (jitter.mean / 1e6 - expected).abs() < 1e-9,
            "{}",
            jitter.mean
        );
    }
}
