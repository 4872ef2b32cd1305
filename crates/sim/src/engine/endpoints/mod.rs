//! The hosts at both ends of a flow: their arrivals, their output, and their timers.

mod application;
mod opening;
mod proxy;

use airtcp_network::Content;
use airtcp_packet::{Ecn, Flags, Segment, SequenceNumber};
use airtcp_tcp::{Event, State};
use airtcp_units::Instant;

use super::flow::Flow;
use super::insight::{Witness, sequence_of};
use super::truth::{Expiry, Judgment, Receiving};
use super::watch::{Direction, FlowEvent, Watch};
use super::{Endpoints, Host, Net, Packet, Turn};
use crate::traffic::End;

impl<W: Watch> Endpoints<'_, W> {
    /// Delivers a segment to the host that receives the data.
    #[inline]
    pub(super) fn on_server_arrival(&mut self, network: &mut Net, packet: &Packet) {
        let now = network.now();
        let segment = match &packet.content {
            Content::Segment(segment) => segment,
            Content::Feedback(feedback) => {
                let server = &mut self.flows[packet.flow as usize].server.connection;
                server.on_feedback(now, feedback, &mut ());
                return self.drain_server(network, packet.flow);
            }
            Content::Other(_) => return self.on_datagram(network, packet, Host::Server),
        };
        self.fingerprint(now, packet.flow, segment);
        let flow = &mut self.flows[packet.flow as usize];
        if flow.proxy.is_none() {
            settle(flow, now, packet, segment, self.watch);
        }
        // A proxy answers for the receiver: no packet travels end to end.
        if segment.payload_bytes > 0 && flow.proxy.is_none() {
            flow.latency.on_arrival(now, packet.carried);
        }
        if segment.ecn == Ecn::CongestionExperienced {
            flow.tally.on_marked();
        }
        if flow.opening.is_some() && segment.flags.contains(Flags::SYN) {
            self.on_syn(packet.flow, Host::Server, segment);
        }
        let flow = &mut self.flows[packet.flow as usize];
        let server = &mut flow.server.connection;
        server.handle(now, segment, &mut ());
        let received = server.read(u64::MAX);
        flow.latency.on_delivered(now, received);
        if flow.application.is_some() {
            self.on_application_data(network, packet.flow, End::Sink, received);
        }
        let flow = &mut self.flows[packet.flow as usize];
        let server = &mut flow.server.connection;
        let is_whole = flow.opening.as_ref().is_some_and(|opening| {
            // The end of a SYN's data arrives before the FIN does.
            Some(server.receiver().received()) == opening.bytes
        });
        if server.state() == State::CloseWait || is_whole {
            if server.state() == State::CloseWait {
                server.close();
            }
            if flow.completed == Instant::FAR_FUTURE {
                flow.completed = now;
                self.watch.event(now, packet.flow, FlowEvent::Completed);
            }
        }
        self.drain_server(network, packet.flow);
    }

    /// Delivers a segment to the host that sends the data.
    #[inline]
    pub(super) fn on_client_arrival(&mut self, network: &mut Net, packet: &Packet) {
        let now = network.now();
        let segment = match &packet.content {
            Content::Segment(segment) => segment,
            Content::Feedback(feedback) => {
                let (watch, index) = (&mut *self.watch, packet.flow);
                let client = &mut self.flows[index as usize].client.connection;
                client.on_feedback(now, feedback, &mut |now, event| {
                    watch.event(now, index, FlowEvent::Sender(event));
                });
                return self.drain_client(network, index);
            }
            Content::Other(_) => return self.on_datagram(network, packet, Host::Client),
        };
        self.fingerprint(now, packet.flow, segment);
        let (watch, index) = (&mut *self.watch, packet.flow);
        watch.segment(
            now,
            index,
            Direction::Acknowledgments,
            packet.index,
            segment,
        );
        if segment.flags.contains(Flags::SYN) && self.flows[index as usize].opening.is_some() {
            self.on_syn(index, Host::Client, segment);
        }
        let watch = &mut *self.watch;
        let flow = &mut self.flows[index as usize];
        settle_by_acknowledgment(flow, now, packet, segment, watch);
        let mut judged = None;
        flow.latency.on_answer(now, packet.carried);
        let mut witness = Witness {
            events: |now, event| {
                watch.event(now, index, FlowEvent::Sender(event));
                judged = judgment(&event).or(judged);
            },
            truth: &flow.truth,
            iss: flow.client_iss,
            coins: flow.coins.as_deref().copied(),
        };
        let client = &mut flow.client.connection;
        client.handle(now, segment, &mut witness);
        if let Some(judgment) = judged {
            let sequence = sequence_of(judgment.offset, flow.client_iss);
            flow.truth.on_judged(sequence, &judgment);
        }
        if flow.opening.is_some() {
            self.on_request(index);
        }
        let flow = &mut self.flows[index as usize];
        if flow.application.is_some() {
            let received = flow.client.connection.read(u64::MAX);
            let is_opened = flow.is_opened();
            if let Some(application) = flow.application.as_mut().filter(|_| is_opened) {
                application.session.on_opened(now);
            }
            self.on_application_data(network, index, End::Source, received);
        }
        self.drain_client(network, index);
    }

    #[inline]
    fn fingerprint(&mut self, now: Instant, flow: u32, segment: &Segment) {
        self.digest.take(
            now,
            u64::from(flow),
            u64::from(segment.sequence.0) << 32 | u64::from(segment.acknowledgment.0),
        );
    }

    pub(super) fn on_client_timer(&mut self, network: &mut Net, index: u32) {
        let now = network.now();
        let flow = &mut self.flows[index as usize];
        if !network.rings(flow.client.alarm) {
            return;
        }
        if flow.datagrams.is_some() {
            return self.on_datagram_timer(network, index);
        }
        if flow.opening.is_some() {
            self.open(network, index);
        }
        let flow = &mut self.flows[index as usize];
        let watch = &mut *self.watch;
        let (mut expired, mut judged) = (None, None);
        if flow.client.connection.next_wakeup() <= now {
            let mut witness = Witness {
                events: |now, event| {
                    watch.event(now, index, FlowEvent::Sender(event));
                    judged = judgment(&event).or(judged);
                    if let Event::Timeout {
                        offset,
                        transmissions,
                        ..
                    } = event
                    {
                        expired = Some((offset, transmissions));
                    }
                },
                truth: &flow.truth,
                iss: flow.client_iss,
                coins: flow.coins.as_deref().copied(),
            };
            flow.client.connection.on_wakeup(now, &mut witness);
        }
        if let Some(judgment) = judged {
            let sequence = sequence_of(judgment.offset, flow.client_iss);
            flow.truth.on_judged(sequence, &judgment);
        }
        if let Some((offset, transmissions)) = expired {
            let expiry = Expiry {
                at: now,
                sequence: sequence_of(offset, flow.client_iss),
                transmissions: u32::from(transmissions),
                before: flow.client.port.sent(),
                received: flow.peer_of_client().receiver().holds(offset),
                is_oldest: flow.client().sender().una() == offset,
            };
            if flow.truth.on_timeout(expiry) {
                let event = FlowEvent::TimeoutSpurious {
                    offset,
                    expired_at: now,
                };
                watch.event(now, index, event);
            }
        }
        // No other event is armed until the event that fired is moved.
        self.drain_client(network, index);
        let client = &mut self.flows[index as usize].client;
        network.rearm(&mut client.alarm, client.connection.next_wakeup());
    }

    pub(super) fn on_server_timer(&mut self, network: &mut Net, index: u32) {
        let now = network.now();
        let server = &mut self.flows[index as usize].server;
        if !network.rings(server.alarm) {
            return;
        }
        if server.connection.next_wakeup() <= now {
            server.connection.on_wakeup(now, &mut ());
        }
        if self.flows[index as usize].opening.is_some() {
            self.open(network, index);
        }
        self.drain_server(network, index);
        let server = &mut self.flows[index as usize].server;
        network.rearm(&mut server.alarm, server.connection.next_wakeup());
    }

    /// A packet has left its sender's device: held-back segments may follow.
    #[inline]
    pub(super) fn on_left_device(&mut self, network: &mut Net, packet: &Packet) {
        let flow = &mut self.flows[packet.flow as usize];
        let (Some(queue), Some(segment)) = (&mut flow.small_queue, packet.segment()) else {
            return;
        };
        if flow.client.port.is_first_hop_of(packet) && queue.on_left(segment.payload_bytes) {
            self.drain_client(network, packet.flow);
        }
    }

    /// Sends a client's output, and updates its timer.
    #[inline]
    pub(super) fn drain_client(&mut self, network: &mut Net, index: u32) {
        let now = network.now();
        loop {
            let flow = &mut self.flows[index as usize];
            let client = &mut flow.client;
            let is_held_back = match &mut flow.small_queue {
                Some(queue) => queue.holds_back(client.connection.sender()),
                None => false,
            };
            if !is_held_back && let Some(segment) = client.connection.poll(now) {
                if let Some(queue) = &mut flow.small_queue {
                    queue.on_sent(segment.payload_bytes);
                }
                let packet = client.port.packet(Content::Segment(segment), now);
                self.watch
                    .segment(now, index, Direction::Data, packet.index, &segment);
                network.send(packet, self);
                continue;
            }
            let sender = client.connection.sender();
            if flow.application.is_none() {
                // A sender that is never application-limited writes bytes as they leave.
                flow.latency.on_written(now, sender.nxt());
            }
            self.watch.settled(now, index, sender);
            let wanted = client.connection.next_wakeup();
            return network.arm(&mut client.alarm, wanted, Turn::Client(index));
        }
    }

    /// Sends a server's output, and updates its timer.
    #[inline]
    pub(super) fn drain_server(&mut self, network: &mut Net, index: u32) {
        let now = network.now();
        loop {
            let flow = &mut self.flows[index as usize];
            let server = &mut flow.server;
            let Some(segment) = server.connection.poll(now) else {
                let wanted = server.connection.next_wakeup();
                return network.arm(&mut server.alarm, wanted, Turn::Server(index));
            };
            let answered = flow.latency.answer();
            let packet = server.port.packet(Content::Segment(segment), answered);
            network.send(packet, self);
        }
    }
}

/// Records that a segment of the sender's has arrived; timeouts may turn out to have been spurious.
#[inline]
fn settle(
    flow: &mut Flow,
    now: Instant,
    packet: &Packet,
    segment: &Segment,
    watch: &mut impl Watch,
) {
    if flow.truth.is_settled() {
        return;
    }
    if segment.sequence_length() == 0 {
        return;
    }
    let receiver = Receiving {
        next: flow.next_of_peer(),
        is_pending: flow.peer_of_client().receiver().next_wakeup() < Instant::FAR_FUTURE,
    };
    let (iss, una) = (flow.client_iss, flow.client().sender().una());
    let settled = tell_spurious(now, packet.flow, iss, una, watch);
    let truth = &mut flow.truth;
    truth.on_arrival(segment.sequence, packet.index, receiver, settled);
}

/// Records that an acknowledgment has arrived at the sender; this decides whether timeouts were
/// spurious.
#[inline]
fn settle_by_acknowledgment(
    flow: &mut Flow,
    now: Instant,
    packet: &Packet,
    segment: &Segment,
    watch: &mut impl Watch,
) {
    if flow.truth.is_settled() {
        return;
    }
    let (iss, una) = (flow.client_iss, flow.client().sender().una());
    let settled = tell_spurious(now, packet.flow, iss, una, watch);
    let truth = &mut flow.truth;
    truth.on_acknowledgment(segment.acknowledgment, packet.index, settled);
}

/// Reports to `watch` the timeouts that were spurious.
fn tell_spurious(
    now: Instant,
    flow: u32,
    iss: SequenceNumber,
    una: u64,
    watch: &mut impl Watch,
) -> impl FnMut(&Expiry) {
    move |expiry| {
        let event = FlowEvent::TimeoutSpurious {
            offset: offset_near(expiry.sequence, iss, una),
            expired_at: expiry.at,
        };
        watch.event(now, flow, event);
    }
}

/// The sender's attribution of a loss, and the segment concerned.
const fn judgment(event: &Event) -> Option<Judgment> {
    match *event {
        Event::LossClassified {
            offset,
            cause,
            lost_segments,
            below_mean,
        } => Some(Judgment {
            offset,
            cause,
            lost_segments,
            below_mean,
        }),
        _ => None,
    }
}

/// The stream offset near `una` that a sequence number denotes.
pub(super) const fn offset_near(sequence: SequenceNumber, iss: SequenceNumber, una: u64) -> u64 {
    SequenceNumber(sequence.0.wrapping_sub(iss.0).wrapping_sub(1)).expand(una)
}
