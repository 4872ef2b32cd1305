//! The hosts at both ends of a flow: what arrives there, what they send, and their timers.

use airtcp_packet::{Segment, SequenceNumber};
use airtcp_tcp::{Event, State};
use airtcp_units::Instant;

use super::{Content, Network, Packet, Turn};
use crate::engine::event_queue::EventQueue;
use crate::engine::flow::{Flow, Host};
use crate::engine::insight::{Witness, sequence_of};
use crate::engine::truth::Judgment;
use crate::engine::watch::{Direction, FlowEvent, Watch};
use crate::traffic::End;

impl Network {
    /// A segment reaches the host that receives the data.
    #[inline]
    pub(super) fn on_server_arrival(&mut self, packet: &Packet, watch: &mut impl Watch) {
        let now = self.now;
        let segment = match &packet.content {
            Content::Segment(segment) => segment,
            Content::Feedback(feedback) => {
                let server = &mut self.flows[packet.flow as usize].server.connection;
                server.on_feedback(now, feedback, &mut ());
                return self.drain_server(packet.flow, watch);
            }
        };
        self.fingerprint(packet.flow, segment);
        let flow = &mut self.flows[packet.flow as usize];
        if flow.proxy.is_none() {
            settle(flow, now, packet, segment, watch);
        }
        let server = &mut flow.server.connection;
        server.handle(now, segment, &mut ());
        let received = server.read(u64::MAX);
        if flow.application.is_some() {
            self.on_application_data(packet.flow, End::Sink, received, watch);
        }
        let flow = &mut self.flows[packet.flow as usize];
        let server = &mut flow.server.connection;
        if server.state() == State::CloseWait {
            server.close();
            if flow.completed.is_none() {
                flow.completed = Some(now);
                watch.event(now, packet.flow, FlowEvent::Completed);
            }
        }
        self.drain_server(packet.flow, watch);
    }

    /// A segment reaches the host that sends the data.
    #[inline]
    pub(super) fn on_client_arrival(&mut self, packet: &Packet, watch: &mut impl Watch) {
        let now = self.now;
        let segment = match &packet.content {
            Content::Segment(segment) => segment,
            Content::Feedback(feedback) => {
                let index = packet.flow;
                let client = &mut self.flows[index as usize].client.connection;
                client.on_feedback(now, feedback, &mut |now, event| {
                    watch.event(now, index, FlowEvent::Sender(event));
                });
                return self.drain_client(index, watch);
            }
        };
        self.fingerprint(packet.flow, segment);
        watch.segment(now, packet.flow, Direction::Acknowledgments, segment);
        let index = packet.flow;
        let flow = &mut self.flows[index as usize];
        let mut judged = None;
        let mut witness = Witness {
            events: |now, event| {
                watch.event(now, index, FlowEvent::Sender(event));
                judged = judgment(&event).or(judged);
            },
            truth: &flow.truth,
            iss: flow.client_iss,
            coins: flow.coins,
        };
        let client = &mut flow.client.connection;
        client.handle(now, segment, &mut witness);
        if let Some(judgment) = judged {
            let sequence = sequence_of(judgment.offset, flow.client_iss);
            flow.truth.on_judged(sequence, &judgment);
        }
        if flow.application.is_some() {
            let received = flow.client.connection.read(u64::MAX);
            self.on_application_data(index, End::Source, received, watch);
        }
        self.drain_client(index, watch);
    }

    #[inline]
    fn fingerprint(&mut self, flow: u32, segment: &Segment) {
        self.digest.take(
            self.now,
            u64::from(flow),
            u64::from(segment.sequence.0) << 32 | u64::from(segment.acknowledgment.0),
        );
    }

    pub(super) fn on_client_timer(&mut self, index: u32, watch: &mut impl Watch) {
        let now = self.now;
        let flow = &mut self.flows[index as usize];
        if flow.client.timer != now {
            // An earlier timer was announced since.
            self.queue.remove_first();
            return;
        }
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
                coins: flow.coins,
            };
            flow.client.connection.on_wakeup(now, &mut witness);
        }
        if let Some(judgment) = judged {
            let sequence = sequence_of(judgment.offset, flow.client_iss);
            flow.truth.on_judged(sequence, &judgment);
        }
        if let Some((offset, transmissions)) = expired {
            let received = flow.peer_of_client().receiver().holds(offset);
            let sequence = sequence_of(offset, flow.client_iss);
            let sent = flow.client.sent;
            if flow
                .truth
                .on_timeout(now, sequence, u32::from(transmissions), sent, received)
            {
                let event = FlowEvent::TimeoutSpurious {
                    offset,
                    expired_at: now,
                };
                watch.event(now, index, event);
            }
        }
        // The event that came is moved to where the endpoint wants to be woken next, which costs half of
        // taking it out and putting another in; until then no timer is armed.
        self.drain_client(index, watch);
        rearm_first(&mut self.queue, &mut self.flows[index as usize].client, now);
    }

    pub(super) fn on_server_timer(&mut self, index: u32, watch: &mut impl Watch) {
        let now = self.now;
        let server = &mut self.flows[index as usize].server;
        if server.timer != now {
            self.queue.remove_first();
            return;
        }
        if server.connection.next_wakeup() <= now {
            server.connection.on_wakeup(now, &mut ());
        }
        self.drain_server(index, watch);
        rearm_first(&mut self.queue, &mut self.flows[index as usize].server, now);
    }

    /// Sends what a client has to send, and looks after its timer.
    #[inline]
    pub(super) fn drain_client(&mut self, index: u32, watch: &mut impl Watch) {
        let now = self.now;
        while let Some(segment) = self.flows[index as usize].client.connection.poll(now) {
            watch.segment(now, index, Direction::Data, &segment);
            let packet = launch(&mut self.flows[index as usize].client, segment, index);
            self.depart(packet, watch);
        }
        watch.settled(
            now,
            index,
            self.flows[index as usize].client.connection.sender(),
        );
        arm(
            &mut self.queue,
            &mut self.flows[index as usize].client,
            now,
            Turn::Client(index),
        );
    }

    /// Sends what a server has to send, and looks after its timer.
    #[inline]
    pub(super) fn drain_server(&mut self, index: u32, watch: &mut impl Watch) {
        let now = self.now;
        while let Some(segment) = self.flows[index as usize].server.connection.poll(now) {
            let packet = launch(&mut self.flows[index as usize].server, segment, index);
            self.depart(packet, watch);
        }
        arm(
            &mut self.queue,
            &mut self.flows[index as usize].server,
            now,
            Turn::Server(index),
        );
    }
}

/// A copy of a segment has arrived: timeouts that waited to know whether one would were spurious.
#[inline]
pub(super) fn settle(
    flow: &mut Flow,
    now: Instant,
    packet: &Packet,
    segment: &Segment,
    watch: &mut impl Watch,
) {
    if flow.truth.is_settled() {
        return;
    }
    let sequence = segment.sequence;
    let offset = offset_near(sequence, flow.client_iss, flow.client().sender().una());
    flow.truth.on_arrival(sequence, packet.index, |expired_at| {
        watch.event(
            now,
            packet.flow,
            FlowEvent::TimeoutSpurious { offset, expired_at },
        );
    });
}

/// What a sender has judged a loss to be of, and of which segment.
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

/// Makes a packet of a segment.
#[inline]
const fn launch(host: &mut Host, segment: Segment, flow: u32) -> Packet {
    let index = host.sent;
    host.sent += 1;
    Packet {
        content: Content::Segment(segment),
        flow,
        next: host.route,
        index,
    }
}

/// Sees to it that a timer event is pending no later than the endpoint wants to be woken.
/// One that is pending earlier is left alone: it is cheaper to look again when it comes than to
/// move it at every acknowledgment.
#[inline]
fn arm(queue: &mut EventQueue<Turn>, host: &mut Host, now: Instant, turn: Turn) {
    let wanted = host.connection.next_wakeup();
    if wanted < host.timer {
        debug_assert!(wanted >= now, "an endpoint wants to be woken in the past");
        host.timer = wanted.max(now);
        queue.schedule(host.timer, turn);
    }
}

/// The event that came, the first of the queue, becomes the host's next.
#[inline]
fn rearm_first(queue: &mut EventQueue<Turn>, host: &mut Host, now: Instant) {
    let wanted = host.connection.next_wakeup();
    if wanted == Instant::FAR_FUTURE {
        host.timer = Instant::FAR_FUTURE;
        queue.remove_first();
    } else {
        host.timer = wanted.max(now);
        queue.reschedule_first(host.timer);
    }
}

/// The stream offset near `una` that a sequence number stands for.
pub(super) const fn offset_near(sequence: SequenceNumber, iss: SequenceNumber, una: u64) -> u64 {
    SequenceNumber(sequence.0.wrapping_sub(iss.0).wrapping_sub(1)).expand(una)
}
