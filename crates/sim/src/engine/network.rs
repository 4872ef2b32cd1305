//! Endpoints and pipes, and the loop that moves packets between them.

use airtcp_link::{Admission, Pipe, PipeConfig, Stream, Transmission};
use airtcp_packet::{Segment, SequenceNumber};
use airtcp_tcp::{Event, State};
use airtcp_units::Instant;

use super::digest::Digest;
use super::event_queue::EventQueue;
use super::flow::{Flow, FlowConfig, Host};
use super::watch::{Direction, FlowEvent, Watch};

/// Endpoints and pipes.
#[derive(Clone, Debug, Default)]
pub struct NetworkConfig {
    /// The pipes, which flows name by index, each with the name of its random stream.
    pub pipes: Vec<(String, PipeConfig)>,
    /// The flows.
    pub flows: Vec<FlowConfig>,
}

/// A packet on its way.
#[derive(Clone, Copy, Debug)]
struct Packet {
    segment: Segment,
    flow: u32,
    hop: u8,
    direction: Direction,
    /// How many packets the flow had sent in this direction before.
    index: u64,
}

/// Whose turn it is.
#[derive(Clone, Copy, Debug)]
enum Turn {
    /// A packet arrives at the far end of a pipe.
    Pipe(u32),
    /// The client of a flow opens its connection, or its timer expires.
    Client(u32),
    /// The timer of a server expires.
    Server(u32),
}

#[derive(Clone, Debug)]
struct PipeNode {
    pipe: Pipe<Packet>,
    /// Time of the pending event; [`Instant::FAR_FUTURE`] when there is none.
    pending: Instant,
}

/// A running simulation.
#[derive(Clone, Debug)]
pub struct Network {
    now: Instant,
    queue: EventQueue<Turn>,
    pipes: Vec<PipeNode>,
    flows: Vec<Flow>,
    digest: Digest,
    events: u64,
}

impl Network {
    /// A network at rest at time zero, its channels drawn from `seed`.
    #[must_use]
    pub fn new(config: NetworkConfig, seed: u64) -> Self {
        let pipes = config
            .pipes
            .into_iter()
            .map(|(name, pipe)| PipeNode {
                pipe: Pipe::new(pipe, Stream::new(seed, &name)),
                pending: Instant::FAR_FUTURE,
            })
            .collect();
        let mut queue = EventQueue::default();
        for (flow, index) in config.flows.iter().zip(0..) {
            queue.schedule(flow.start, Turn::Client(index));
        }
        let mut flows: Vec<Flow> = config.flows.iter().map(Flow::new).collect();
        for flow in &mut flows {
            flow.client.timer = flow.start;
        }
        Self {
            now: Instant::ZERO,
            queue,
            pipes,
            flows,
            digest: Digest::default(),
            events: 0,
        }
    }

    /// Runs until nothing is due before or at `end`, or nothing is due at all.
    pub fn run_until(&mut self, end: Instant, watch: &mut impl Watch) {
        while let Some((time, turn)) = self.queue.first() {
            if time > end {
                break;
            }
            debug_assert!(time >= self.now, "time runs backwards");
            self.now = time;
            self.events += 1;
            match turn {
                Turn::Pipe(index) => self.on_pipe(index, watch),
                Turn::Client(index) => self.on_client_timer(index, watch),
                Turn::Server(index) => self.on_server_timer(index, watch),
            }
        }
        self.now = self.now.max(end);
    }

    /// Virtual time now.
    #[must_use]
    pub const fn now(&self) -> Instant {
        self.now
    }

    /// Whether nothing is due any more.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.queue.is_empty()
    }

    /// The flows.
    #[must_use]
    pub fn flows(&self) -> &[Flow] {
        &self.flows
    }

    /// The fingerprint of all deliveries so far.
    #[must_use]
    pub const fn digest(&self) -> Digest {
        self.digest
    }

    /// Events handled so far.
    #[must_use]
    pub const fn events(&self) -> u64 {
        self.events
    }

    /// Packets waiting in the queue of a pipe now.
    pub fn queued_packets(&mut self, pipe: u32) -> usize {
        let now = self.now;
        self.pipes
            .get_mut(pipe as usize)
            .map_or(0, |node| node.pipe.queued_packets(now))
    }

    #[inline]
    fn on_pipe(&mut self, index: u32, watch: &mut impl Watch) {
        let node = &mut self.pipes[index as usize];
        if node.pending != self.now {
            // A packet that overtook has been announced since, at an earlier time.
            self.queue.remove_first();
            return;
        }
        while let Some(packet) = self.pipes[index as usize].pipe.pop(self.now) {
            self.on_packet(packet, watch);
        }
        // While packets were handled, events may have been added, but none before this one: it is
        // still the first.
        let node = &mut self.pipes[index as usize];
        node.pending = node.pipe.next_arrival();
        if node.pending == Instant::FAR_FUTURE {
            self.queue.remove_first();
        } else {
            self.queue.reschedule_first(node.pending);
        }
    }

    /// A packet has crossed a pipe: to the next, or to its destination.
    #[inline]
    fn on_packet(&mut self, mut packet: Packet, watch: &mut impl Watch) {
        let flow = &self.flows[packet.flow as usize];
        let route = match packet.direction {
            Direction::Data => flow.client.route,
            Direction::Acknowledgments => flow.server.route,
        };
        if let (0, Some(access)) = (packet.hop, route.access) {
            packet.hop = 1;
            self.forward(packet, access, watch);
            return;
        }
        let segment = &packet.segment;
        self.digest.take(
            self.now,
            u64::from(packet.flow),
            u64::from(segment.sequence.0) << 32 | u64::from(segment.acknowledgment.0),
        );
        match packet.direction {
            Direction::Data => self.on_data_arrival(&packet, watch),
            Direction::Acknowledgments => self.on_acknowledgment_arrival(&packet, watch),
        }
    }

    #[inline]
    fn on_data_arrival(&mut self, packet: &Packet, watch: &mut impl Watch) {
        let now = self.now;
        let flow = &mut self.flows[packet.flow as usize];
        let sequence = packet.segment.sequence;
        let offset = offset_near(sequence, flow.client_iss, flow.client().sender().una());
        flow.truth.on_arrival(sequence, packet.index, |expired_at| {
            watch.event(
                now,
                packet.flow,
                FlowEvent::TimeoutSpurious { offset, expired_at },
            );
        });
        let server = &mut flow.server.connection;
        server.handle(now, &packet.segment, &mut ());
        server.read(u64::MAX);
        if server.state() == State::CloseWait {
            server.close();
            if flow.completed.is_none() {
                flow.completed = Some(now);
                watch.event(now, packet.flow, FlowEvent::Completed);
            }
        }
        self.drain_server(packet.flow, watch);
    }

    #[inline]
    fn on_acknowledgment_arrival(&mut self, packet: &Packet, watch: &mut impl Watch) {
        let now = self.now;
        watch.segment(
            now,
            packet.flow,
            Direction::Acknowledgments,
            &packet.segment,
        );
        let index = packet.flow;
        let client = &mut self.flows[index as usize].client.connection;
        client.handle(now, &packet.segment, &mut |now, event| {
            watch.event(now, index, FlowEvent::Sender(event));
        });
        self.drain_client(index, watch);
    }

    fn on_client_timer(&mut self, index: u32, watch: &mut impl Watch) {
        let now = self.now;
        let flow = &mut self.flows[index as usize];
        if flow.client.timer != now {
            // An earlier timer was announced since.
            self.queue.remove_first();
            return;
        }
        let mut expired = None;
        if flow.client.connection.next_wakeup() <= now {
            flow.client.connection.on_wakeup(now, &mut |now, event| {
                watch.event(now, index, FlowEvent::Sender(event));
                if let Event::Timeout {
                    offset,
                    transmissions,
                    ..
                } = event
                {
                    expired = Some((offset, transmissions));
                }
            });
        }
        if let Some((offset, transmissions)) = expired {
            let received = flow.server.connection.receiver().holds(offset);
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
        flow.client.timer = Instant::FAR_FUTURE;
        self.queue.remove_first();
        self.drain_client(index, watch);
    }

    fn on_server_timer(&mut self, index: u32, watch: &mut impl Watch) {
        let now = self.now;
        let server = &mut self.flows[index as usize].server;
        if server.timer != now {
            self.queue.remove_first();
            return;
        }
        if server.connection.next_wakeup() <= now {
            server.connection.on_wakeup(now, &mut ());
        }
        server.timer = Instant::FAR_FUTURE;
        self.queue.remove_first();
        self.drain_server(index, watch);
    }

    /// Sends what a client has to send, and looks after its timer.
    #[inline]
    fn drain_client(&mut self, index: u32, watch: &mut impl Watch) {
        let now = self.now;
        while let Some(segment) = self.flows[index as usize].client.connection.poll(now) {
            watch.segment(now, index, Direction::Data, &segment);
            let client = &mut self.flows[index as usize].client;
            let packet = launch(client, segment, index, Direction::Data);
            let first = client.route.link;
            self.forward(packet, first, watch);
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
    fn drain_server(&mut self, index: u32, watch: &mut impl Watch) {
        let now = self.now;
        while let Some(segment) = self.flows[index as usize].server.connection.poll(now) {
            let server = &mut self.flows[index as usize].server;
            let packet = launch(server, segment, index, Direction::Acknowledgments);
            let first = server.route.link;
            self.forward(packet, first, watch);
        }
        arm(
            &mut self.queue,
            &mut self.flows[index as usize].server,
            now,
            Turn::Server(index),
        );
    }

    /// Hands a packet to a pipe.
    #[inline]
    fn forward(&mut self, packet: Packet, pipe: u32, watch: &mut impl Watch) {
        let now = self.now;
        let node = &mut self.pipes[pipe as usize];
        let bytes = packet.segment.ip_bytes();
        let transmission = Transmission {
            bytes,
            flow: packet.flow,
            index: packet.index,
        };
        let admission = node.pipe.push(now, transmission, packet);
        let next = node.pipe.next_arrival();
        if next < node.pending {
            node.pending = next;
            self.queue.schedule(next, Turn::Pipe(pipe));
        }
        if admission != Admission::Queued {
            self.on_loss(&packet, admission, watch);
        }
    }

    #[cold]
    fn on_loss(&mut self, packet: &Packet, admission: Admission, watch: &mut impl Watch) {
        let flow = &mut self.flows[packet.flow as usize];
        let direction = packet.direction;
        let una = flow.client().sender().una();
        let offset = match direction {
            Direction::Data => {
                let sequence = packet.segment.sequence;
                flow.truth
                    .on_loss(sequence, packet.index, sequence_of(una, flow.client_iss));
                match admission {
                    Admission::Overflow => flow.tally.dropped_by_queue += 1,
                    _ => flow.tally.lost_by_link += 1,
                }
                offset_near(sequence, flow.client_iss, una)
            }
            Direction::Acknowledgments => {
                flow.tally.acknowledgments_lost += 1;
                offset_near(packet.segment.acknowledgment, flow.client_iss, una)
            }
        };
        let event = match admission {
            Admission::Overflow => FlowEvent::QueueDrop { direction, offset },
            _ => FlowEvent::LinkLoss { direction, offset },
        };
        watch.event(self.now, packet.flow, event);
    }
}

/// Makes a packet of a segment.
#[inline]
const fn launch(host: &mut Host, segment: Segment, flow: u32, direction: Direction) -> Packet {
    let index = host.sent;
    host.sent += 1;
    Packet {
        segment,
        flow,
        hop: 0,
        direction,
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

/// The sequence number of a stream offset, the SYN being numbered `iss`.
#[expect(
    clippy::cast_possible_truncation,
    reason = "sequence numbers wrap (RFC 9293 §3.4)"
)]
const fn sequence_of(offset: u64, iss: SequenceNumber) -> SequenceNumber {
    SequenceNumber(iss.0.wrapping_add(1).wrapping_add(offset as u32))
}

/// The stream offset near `una` that a sequence number stands for.
const fn offset_near(sequence: SequenceNumber, iss: SequenceNumber, una: u64) -> u64 {
    SequenceNumber(sequence.0.wrapping_sub(iss.0).wrapping_sub(1)).expand(una)
}
