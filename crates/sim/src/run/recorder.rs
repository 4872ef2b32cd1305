//! Records a run: events in columns, segments in a capture, both in a qlog.

use std::net::{Ipv4Addr, SocketAddrV4};

use airtcp_link::agent::AgentEvent;
use airtcp_link::frame::Occupancy;
use airtcp_packet::Segment;
use airtcp_packet::wire::Addresses;
use airtcp_scenario::Scenario;
use airtcp_tcp::Event;
use airtcp_tcp::Sender;
use airtcp_tcp::config::CongestionControl;
use airtcp_tcp::loss_differentiation::Cause;
use airtcp_units::Instant;
use arrow_array::RecordBatch;

use super::nothing::Nothing;
use super::{EventLog, Observe, RunError};
use crate::engine::{Direction, FlowEvent, PingEvent, Watch};
use crate::record::{LossTrigger, Metrics, PcapWriter, QlogWriter, RecordError, ReplayWriter};
use crate::result::{AgentLog, EventKind, FrameLog, PacketLog, PingTable, RttTable};

/// The flow with the endpoint shown in the qlog: the format holds one connection's view.
const LOGGED_FLOW: u32 = 0;
/// The first addresses of the hosts that send and receive; further flows get the following ones.
const SENDERS: u32 = u32::from_be_bytes([10, 0, 0, 1]);
const RECEIVERS: u32 = u32::from_be_bytes([10, 128, 0, 1]);
const SENDER_PORT: u16 = 40_000;
const RECEIVER_PORT: u16 = 5_001;

/// The recorded tables.
pub(super) struct Recorded {
    pub events: RecordBatch,
    pub frames: RecordBatch,
    pub agents: RecordBatch,
    pub rtts: RecordBatch,
    pub packets: RecordBatch,
    pub pings: RecordBatch,
}

/// Observes a run and records the requested data.
pub(super) struct Recorder {
    log: Option<EventLog>,
    air: Option<(FrameLog, AgentLog)>,
    rtts: Option<RttTable>,
    packets: Option<PacketLog>,
    pings: Option<PingTable>,
    capture: Option<PcapWriter>,
    qlog: Option<QlogWriter>,
    replay: Option<ReplayWriter>,
    metrics: Metrics,
    /// Lines of the logged flow's congestion control that are in the qlog.
    messages: usize,
    /// The first file that could not be written; nothing more is written after it.
    failed: Option<RecordError>,
}

impl Recorder {
    /// Creates a recorder for the data requested by `observe`; `title` names the run in the qlog,
    /// and `control` the congestion control of its flow.
    pub(super) fn create(
        observe: &Observe,
        title: &str,
        control: CongestionControl,
    ) -> Result<Self, RunError> {
        let has_messages = matches!(control, CongestionControl::External(_));
        let capture = observe
            .pcap
            .as_deref()
            .map(PcapWriter::create)
            .transpose()?;
        let qlog = observe
            .qlog
            .as_deref()
            .map(|path| QlogWriter::create(path, title, has_messages))
            .transpose()?;
        Ok(Self {
            log: observe.events.then(EventLog::new),
            air: observe.air.then(Default::default),
            rtts: observe.rtts.then(RttTable::default),
            packets: observe.packets.then(PacketLog::default),
            pings: observe.pings.then(PingTable::default),
            capture,
            qlog,
            replay: observe
                .replay
                .as_deref()
                .map(ReplayWriter::create)
                .transpose()?,
            metrics: Metrics::default(),
            messages: 0,
            failed: None,
        })
    }

    /// Whether there is anything to record: an unobserved run pays nothing.
    pub(super) const fn is_active(&self) -> bool {
        self.log.is_some()
            || self.air.is_some()
            || self.rtts.is_some()
            || self.packets.is_some()
            || self.pings.is_some()
            || self.capture.is_some()
            || self.qlog.is_some()
            || self.replay.is_some()
    }

    /// Takes the events and segments so far; their tables are empty afterwards.
    pub(super) fn take(&mut self) -> Result<(RecordBatch, RecordBatch), RunError> {
        let events = match &mut self.log {
            Some(log) => log.finish()?,
            None => Nothing::recorded()?.events.clone(),
        };
        let packets = match &mut self.packets {
            Some(packets) => packets.finish()?,
            None => Nothing::recorded()?.packets.clone(),
        };
        Ok((events, packets))
    }

    /// Returns everything recorded of the completed run of `scenario` with `seed`.
    pub(super) fn finish(self, scenario: &Scenario, seed: u64) -> Result<Recorded, RunError> {
        if let Some(error) = self.failed {
            return Err(error.into());
        }
        self.capture.map(PcapWriter::finish).transpose()?;
        self.qlog.map(QlogWriter::finish).transpose()?;
        self.replay
            .map(|replay| replay.finish(scenario, seed))
            .transpose()?;
        let nothing = Nothing::recorded()?;
        let mut recorded = Recorded {
            events: nothing.events.clone(),
            frames: nothing.frames.clone(),
            agents: nothing.agents.clone(),
            rtts: nothing.rtts.clone(),
            packets: nothing.packets.clone(),
            pings: nothing.pings.clone(),
        };
        if let Some(mut log) = self.log {
            recorded.events = log.finish()?;
        }
        if let Some((mut frames, mut agents)) = self.air {
            (recorded.frames, recorded.agents) = (frames.finish()?, agents.finish()?);
        }
        if let Some(mut rtts) = self.rtts {
            recorded.rtts = rtts.finish()?;
        }
        if let Some(mut packets) = self.packets {
            recorded.packets = packets.finish()?;
        }
        if let Some(mut pings) = self.pings {
            recorded.pings = pings.finish()?;
        }
        Ok(recorded)
    }

    /// Adds the lines that the logged flow's congestion control has printed since the last call.
    fn messages(&mut self, now: Instant, sender: &Sender) {
        let Some(external) = sender.external() else {
            return;
        };
        while let Some((_, text)) = external.operations().message(self.messages) {
            self.messages += 1;
            let Some(qlog) = &mut self.qlog else { return };
            let written = qlog.message(now, text);
            self.note(written);
        }
    }

    /// The run has ended at `now`: adds the last lines, and the control's counters.
    pub(super) fn controls_ended(&mut self, now: Instant, sender: &Sender) {
        if self.qlog.is_none() {
            return;
        }
        self.messages(now, sender);
        let counters = sender
            .external()
            .map(|control| control.operations().counters());
        for (name, value) in counters.into_iter().flatten() {
            let Some(qlog) = &mut self.qlog else { return };
            let written = qlog.message(now, &format!("{name} = {value}"));
            self.note(written);
        }
    }

    fn note(&mut self, written: Result<(), RecordError>) {
        if let Err(error) = written {
            (self.capture, self.qlog) = (None, None);
            self.failed.get_or_insert(error);
        }
    }
}

impl Watch for Recorder {
    fn event(&mut self, now: Instant, flow: u32, event: FlowEvent) {
        if let (Some(rtts), FlowEvent::Sender(Event::RttSample { rtt })) = (&mut self.rtts, event) {
            rtts.push(now, flow, rtt);
        }
        if let (Some(qlog), Some(trigger)) = (
            self.qlog.as_mut().filter(|_| flow == LOGGED_FLOW),
            loss_trigger(event),
        ) {
            qlog.loss_trigger(trigger);
        }
        if let (
            Some(replay),
            FlowEvent::LinkLoss {
                direction, packet, ..
            },
        ) = (&mut self.replay, event)
        {
            replay.lost(direction, flow, packet);
        }
        if let Some(log) = &mut self.log {
            log_event(log, now, flow, event);
        }
    }

    fn segment(
        &mut self,
        now: Instant,
        flow: u32,
        direction: Direction,
        number: u64,
        segment: &Segment,
    ) {
        if let Some(packets) = &mut self.packets {
            packets.push(now, flow, direction, segment);
        }
        if let Some(capture) = &mut self.capture {
            let written =
                capture.write(now, segment, number, &addresses(flow, direction), direction);
            self.note(written);
        }
        if let Some(qlog) = self.qlog.as_mut().filter(|_| flow == LOGGED_FLOW) {
            let written = qlog.segment(now, segment, direction);
            self.note(written);
        }
    }

    fn ping(&mut self, now: Instant, flow: u32, sent: Instant, event: PingEvent) {
        if let Some(pings) = &mut self.pings {
            pings.push(now, flow, sent, event);
        }
    }

    fn occupied(&mut self, medium: u16, occupancy: &Occupancy) {
        if let Some((frames, _)) = &mut self.air {
            frames.push(medium, occupancy);
        }
    }

    fn agent(&mut self, now: Instant, flow: u32, event: AgentEvent) {
        if let Some((_, agents)) = &mut self.air {
            agents.push(now, flow, event);
        }
    }

    fn settled(&mut self, now: Instant, flow: u32, sender: &Sender) {
        if self.qlog.is_some() && flow == LOGGED_FLOW {
            self.messages(now, sender);
        }
        let Some(qlog) = self.qlog.as_mut().filter(|_| flow == LOGGED_FLOW) else {
            return;
        };
        let metrics = Metrics {
            congestion_window: Some(sender.cwnd()),
            bytes_in_flight: Some(sender.in_flight()),
            ssthresh: sender.ssthresh(),
            smoothed_rtt: sender.rtt().srtt(),
            latest_rtt: sender.rtt().latest(),
            min_rtt: sender.rtt().minimum(),
        };
        if metrics != self.metrics {
            self.metrics = metrics;
            let written = qlog.metrics(now, &metrics);
            self.note(written);
        }
    }
}

/// The reason for retransmissions after an event, if the event changes it.
const fn loss_trigger(event: FlowEvent) -> Option<LossTrigger> {
    match event {
        FlowEvent::Sender(Event::Timeout { .. }) => Some(LossTrigger::PtoExpired),
        FlowEvent::Sender(Event::TailProbe { .. }) => Some(LossTrigger::Probe),
        FlowEvent::Sender(Event::FastRetransmit { .. } | Event::RecoveryExit) => {
            Some(LossTrigger::ReorderingThreshold)
        }
        _ => None,
    }
}

/// The addresses of a flow's segments: every flow has separate hosts.
fn addresses(flow: u32, direction: Direction) -> Addresses {
    let sender = SocketAddrV4::new(Ipv4Addr::from(SENDERS + flow), SENDER_PORT);
    let receiver = SocketAddrV4::new(Ipv4Addr::from(RECEIVERS + flow), RECEIVER_PORT);
    match direction {
        Direction::Data => Addresses {
            source: sender,
            destination: receiver,
        },
        Direction::Acknowledgments => Addresses {
            source: receiver,
            destination: sender,
        },
    }
}

fn log_event(log: &mut EventLog, now: Instant, flow: u32, event: FlowEvent) {
    let mut push = |time, kind, offset| log.push(time, flow, kind, offset, None);
    match event {
        FlowEvent::Sender(Event::Timeout {
            offset,
            transmissions,
            rto,
        }) => log.push(
            now,
            flow,
            EventKind::Timeout,
            Some(offset),
            Some(format_args!("after {rto}, sent {transmissions} times")),
        ),
        // It is recorded at the time of the timeout; that it was spurious may be known only later.
        FlowEvent::TimeoutSpurious { offset, expired_at } => {
            push(expired_at, EventKind::SpuriousTimeout, Some(offset));
        }
        FlowEvent::Sender(Event::FastRetransmit { offset }) => {
            push(now, EventKind::FastRetransmit, Some(offset));
        }
        FlowEvent::Sender(Event::RecoveryTakenBack { evidence }) => log.push(
            now,
            flow,
            EventKind::RecoveryTakenBack,
            None,
            Some(format_args!("{}", evidence.name())),
        ),
        FlowEvent::Sender(Event::LossClassified {
            offset,
            cause,
            lost_segments,
            ..
        }) => log.push(
            now,
            flow,
            match cause {
                Cause::Radio => EventKind::JudgedRadio,
                Cause::Congestion => EventKind::JudgedCongestion,
            },
            Some(offset),
            Some(format_args!("{lost_segments} segments")),
        ),
        FlowEvent::Sender(Event::TailProbe { offset }) => {
            push(now, EventKind::TailProbe, Some(offset));
        }
        FlowEvent::Sender(Event::RecoveryExit) => push(now, EventKind::RecoveryExit, None),
        FlowEvent::Sender(Event::Established) => push(now, EventKind::Established, None),
        FlowEvent::Sender(Event::Closed | Event::Reset | Event::TimedOut) => {
            push(now, EventKind::Closed, None)
        }
        FlowEvent::QueueDrop {
            direction: Direction::Data,
            offset,
        } => {
            push(now, EventKind::QueueDrop, Some(offset));
        }
        FlowEvent::LinkLoss {
            direction: Direction::Data,
            offset,
            ..
        } => {
            push(now, EventKind::LinkLoss, Some(offset));
        }
        // Not losses of this flow's data, or covered by the samples.
        FlowEvent::QueueDrop { .. }
        | FlowEvent::LinkLoss { .. }
        | FlowEvent::Completed
        | FlowEvent::Sender(
            Event::TimeoutJudgedSpurious
            | Event::RttSample { .. }
            | Event::DuplicateReported { .. }
            | Event::LossRepairedByProbe
            | Event::WindowProbe
            | Event::ReducedForMark { .. },
        ) => {}
    }
}
