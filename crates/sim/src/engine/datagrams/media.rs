//! Media over the network: both ends of SCReAM, and the feedback in flight.

use std::collections::VecDeque;

use airtcp_network::Content;
use airtcp_scenario::Scream;
use airtcp_units::Instant;

use super::scream::{Receiver, Report, Sender};
use super::{Exchange, LATE, Sending};
use crate::engine::watch::Watch;
use crate::engine::{Endpoints, Host, Net, Packet, Turn};

/// A flow of media.
#[derive(Clone, Debug)]
pub(super) struct Media {
    sender: Sender,
    receiver: Receiver,
    /// Feedback that may still arrive, by its number.
    reports: VecDeque<(u64, Report)>,
    /// Bytes of payload that have arrived.
    delivered: u64,
}

impl Media {
    pub(super) fn new(config: Scream, start: Instant) -> Self {
        Self {
            sender: Sender::new(config, start),
            receiver: Receiver::new(start),
            reports: VecDeque::new(),
            delivered: 0,
        }
    }

    pub(super) const fn delivered(&self) -> u64 {
        self.delivered
    }

    /// The feedback with that number, unless a later one has arrived; earlier feedback is
    /// forgotten.
    fn report(&mut self, index: u64) -> Option<Report> {
        while let Some((number, report)) = self.reports.pop_front() {
            if number == index {
                return Some(report);
            }
            if number > index {
                self.reports.push_front((number, report));
                return None;
            }
        }
        None
    }

    fn next(&self) -> Instant {
        self.sender.next().min(self.receiver.next())
    }
}

impl Exchange {
    const fn media_mut(&mut self) -> Option<&mut Media> {
        match &mut self.sending {
            Sending::Media(media) => Some(media),
            Sending::Source(_) => None,
        }
    }
}

impl<W: Watch> Endpoints<'_, W> {
    /// A packet of media reaches the receiver, or feedback the sender.
    pub(super) fn on_media(&mut self, network: &mut Net, packet: &Packet, host: Host) {
        let now = network.now();
        let flow = &mut self.flows[packet.flow as usize];
        let Some(exchange) = flow.datagrams.as_deref_mut() else {
            return;
        };
        if host == Host::Client {
            if let Some(media) = exchange.media_mut()
                && let Some(report) = media.report(packet.index)
            {
                media.sender.on_report(now, &report);
            }
        } else {
            let headers = exchange.config.packet_bytes(0);
            let payload = u64::from(packet.bytes().saturating_sub(headers));
            exchange.counts.received += 1;
            exchange.counts.late += u64::from(now - packet.carried > LATE);
            exchange.jitter.on_arrival(now - packet.carried);
            flow.latency.on_arrival(now, packet.carried);
            if let Some(media) = exchange.media_mut() {
                media.delivered += payload;
                media
                    .receiver
                    .on_arrival(now, packet.index, packet.carried, payload);
            }
        }
        if let Some(next) = self.act(network, packet.flow) {
            let alarm = &mut self.flows[packet.flow as usize].client.alarm;
            network.arm(alarm, next, Turn::Client(packet.flow));
        }
    }

    /// The timer of flow number `index`, which rings for both ends.
    pub(super) fn on_media_timer(&mut self, network: &mut Net, index: u32) {
        if let Some(next) = self.act(network, index) {
            network.rearm(&mut self.flows[index as usize].client.alarm, next);
        }
    }

    /// Does all that both ends have to do by now; returns the time of their next action.
    fn act(&mut self, network: &mut Net, index: u32) -> Option<Instant> {
        self.send_report(network, index);
        self.send_media(network, index);
        let exchange = self.flows[index as usize].datagrams.as_deref_mut()?;
        Some(exchange.media_mut()?.next().max(network.now()))
    }

    /// Sends the feedback that is due.
    fn send_report(&mut self, network: &mut Net, index: u32) {
        let now = network.now();
        let flow = &mut self.flows[index as usize];
        let Some(media) = flow.datagrams.as_deref_mut().and_then(Exchange::media_mut) else {
            return;
        };
        let Some(report) = media.receiver.take_report(now) else {
            return;
        };
        let content = Content::Other(report.packet_bytes());
        let packet = flow.server.port.packet(content, now);
        media.reports.push_back((packet.index, report));
        network.send(packet, self);
    }

    /// Sends the packets that may leave.
    fn send_media(&mut self, network: &mut Net, index: u32) {
        let now = network.now();
        loop {
            let flow = &mut self.flows[index as usize];
            let Some(exchange) = flow.datagrams.as_deref_mut() else {
                return;
            };
            let config = exchange.config;
            let Some(media) = exchange.media_mut() else {
                return;
            };
            media.sender.wake(now);
            let Some(payload) = media.sender.poll(now) else {
                return;
            };
            let content = Content::Other(config.packet_bytes(payload));
            let packet = flow.client.port.packet(content, now);
            media.sender.on_sent(now, packet.index, payload);
            exchange.counts.sent += 1;
            network.send(packet, self);
        }
    }
}
