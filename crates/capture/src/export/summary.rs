//! A capture and its flow in figures.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::analysis::{Analysis, Label, Limit, Need, Phase, Sent, Trigger};
use crate::capture::Capture;
use crate::decode::Other;

/// Summary of a capture and of the chosen flow.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// The capture.
    pub capture: Whole,
    /// The flow; absent without TCP.
    pub flow: Option<AnalysedFlow>,
    /// Refusals, each with the capture that would help.
    pub refusals: Vec<Refused>,
    /// Whether a link can be fitted to the flow, and remedies ranked.
    pub is_sound: bool,
}

/// The capture as a whole.
#[derive(Clone, Debug, Serialize)]
pub struct Whole {
    /// Packets of every kind.
    pub packets: u64,
    /// TCP packets.
    pub tcp_packets: u64,
    /// From the first packet to the last, in seconds.
    pub length_s: f64,
    /// The first packet's time, in nanoseconds since the start of 1970.
    pub start_ns: u64,
    /// Flows.
    pub flows: u32,
    /// Number of flows not listed, because there are too many.
    pub unlisted_flows: u64,
    /// Packets of other kinds, by kind.
    pub others: BTreeMap<&'static str, u64>,
    /// Packets that the capture reports as dropped.
    pub dropped: u64,
    /// Steps back in time.
    pub steps_back: u64,
    /// The longest of them, in nanoseconds: the packets of a flow are sorted within half a second.
    pub longest_step_back_ns: u64,
    /// Packets without a time.
    pub untimed: u64,
    /// Whether the file ends in the middle of a packet.
    pub is_cut: bool,
    /// Why the rest of the file was not read.
    pub damage: Option<String>,
    /// TCP frames seen by a radio monitor, and the number with the retry bit.
    pub radio_frames: [u64; 2],
}

/// The analysed flow.
#[derive(Clone, Debug, Serialize)]
pub struct AnalysedFlow {
    /// Its number.
    pub number: u32,
    /// The sender of the data.
    pub data_from: String,
    /// Its receiver.
    pub data_to: String,
    /// Vantage point: `sender`, `receiver` or `middle`.
    pub view: &'static str,
    /// Whether the delays determine the vantage point.
    pub is_view_certain: bool,
    /// The round trips towards either end, in nanoseconds.
    pub to_receiver_ns: Option<u64>,
    /// See `to_receiver_ns`.
    pub to_sender_ns: Option<u64>,
    /// Round trip of the handshake from here to the server, in nanoseconds.
    pub handshake_rtt_ns: Option<u64>,
    /// The shortest round trip to the receiver, in nanoseconds.
    pub base_rtt_ns: Option<u64>,
    /// The longest payload of a packet, in bytes.
    pub mss: u32,
    /// Scale of the receiver's window, if its SYN has it.
    pub window_scale: Option<u8>,
    /// Whether SACK is used.
    pub sack: bool,
    /// Whether timestamps are used.
    pub timestamps: bool,
    /// Whether both SYNs are in the capture.
    pub syn_seen: bool,
    /// Encapsulations of the flow.
    pub carrier: Vec<&'static str>,
    /// Duplicate captures of a packet, ignored.
    pub copies: u64,
    /// Bytes of data, without retransmissions.
    pub bytes: u64,
    /// Rate in bit/s.
    pub goodput_bps: f64,
    /// Retransmissions.
    pub retransmitted: usize,
    /// Needed retransmissions.
    pub needed: usize,
    /// Needless retransmissions.
    pub needless: usize,
    /// Timeouts.
    pub timeouts: usize,
    /// Spurious timeouts.
    pub timeouts_spurious: usize,
    /// Tail loss probes.
    pub tail_probes: usize,
    /// Packets overtaken upstream of the capture.
    pub overtaken: usize,
    /// Stops of the link.
    pub stops: usize,
    /// Share of the time by limit; they sum to 1.
    pub shares: BTreeMap<&'static str, f64>,
    /// The same in seconds.
    pub seconds: BTreeMap<&'static str, f64>,
    /// Seconds in which the capture dropped packets.
    pub left_out_s: f64,
    /// Seconds in which data was in flight, or waited for the receiver's window.
    pub under_way_s: f64,
    /// Phases of the path, where its shortest round trip changes.
    pub phases: Vec<PathPhase>,
    /// Short segments that the sender held back.
    pub small_writes: SmallWrites,
    /// The last packet of each end: the sender of the data, and its receiver.
    pub last: [LastSeen; 2],
    /// Number of times that the receiver closed its window.
    pub zero_windows: u64,
    /// Whether the hazard of loss rises at the top of the queue: it drops.
    pub shows_tail_drop: bool,
    /// The longest queue in bytes.
    pub longest_queue_bytes: u64,
    /// Queues, policers and congestion marks.
    pub queues: Queues,
    /// Acknowledgments lost on their way here, if they are numbered.
    pub acks_lost: Option<u64>,
    /// Payload bytes of the other direction.
    pub other_bytes: u64,
    /// Its packets below the highest byte: retransmissions, minus reordering.
    pub other_repeats: u64,
    /// Mean number of segments per ACK.
    pub segments_per_ack: f64,
    /// ACKs of 1, 2, … 8 and more segments.
    pub acks_by_segments: [u64; 8],
    /// Extra delay of the answer to a single segment, in nanoseconds.
    pub lone_ack_delay_ns: Option<u64>,
    /// ACKs that were compressed on the return path.
    pub compressed_acks: u64,
    /// Number of ACKs.
    pub acks: u64,
    /// Frames of the flow with the radio's retry bit.
    pub retried_frames: u64,
    /// End of the analysed part, in nanoseconds, if cut.
    pub cut_after_ns: Option<u64>,
    /// For a capture at the receiver, its sender's view, as far as timestamps show it.
    pub at_sender: Option<AtSender>,
}

/// A phase of the path.
#[derive(Clone, Debug, Serialize)]
pub struct PathPhase {
    /// Start, in nanoseconds.
    pub from_ns: u64,
    /// Its shortest round trip, in nanoseconds.
    pub base_rtt_ns: u64,
}

/// Short segments that waited for the acknowledgment of previous data (Nagle's algorithm).
#[derive(Clone, Debug, Serialize)]
pub struct SmallWrites {
    /// Their number.
    pub waits: usize,
    /// Number of waits in which the receiver delayed its acknowledgment.
    pub delayed: u64,
    /// The median of these delays, in nanoseconds.
    pub delay_ns: Option<u64>,
    /// The time of all waits, in seconds.
    pub held_s: f64,
}

/// The end of one endpoint's transmission.
#[derive(Clone, Debug, Serialize)]
pub struct LastSeen {
    /// Its last packet, in nanoseconds.
    pub time_ns: u64,
    /// Whether it closed or reset the connection.
    pub closed: bool,
}

/// A flow in its sender's view, from a capture at its receiver.
#[derive(Clone, Debug, Serialize)]
pub struct AtSender {
    /// Timeouts.
    pub timeouts: usize,
    /// The shortest round trip, in nanoseconds.
    pub base_rtt_ns: Option<u64>,
    /// Whether the hazard of loss rises at the top of the queue: it drops.
    pub shows_tail_drop: bool,
    /// Queues, policers and congestion marks.
    pub queues: Queues,
    /// Share of the time by limit; they sum to 1.
    pub shares: BTreeMap<&'static str, f64>,
    /// The same in seconds.
    pub seconds: BTreeMap<&'static str, f64>,
    /// Seconds in which data was in flight, or waited for the receiver's window.
    pub under_way_s: f64,
    /// Phases of the path.
    pub phases: Vec<PathPhase>,
    /// Short segments that the sender held back.
    pub small_writes: SmallWrites,
}

/// Evidence of queues and policers on the path, from the sender's view.
#[derive(Clone, Debug, Serialize)]
pub struct Queues {
    /// Whether other traffic fills the queue, too.
    pub is_shared: bool,
    /// Rate of a policer's tokens, in bit/s.
    pub policer_bps: Option<f64>,
    /// Its burst in bytes.
    pub policer_burst_bytes: Option<f64>,
    /// The delay threshold of an AQM, in nanoseconds.
    pub aqm_delay_ns: Option<u64>,
    /// The lowest threshold that the losses admit instead.
    pub aqm_least_delay_ns: Option<u64>,
    /// Probability that a loss above it is the queue's.
    pub aqm_likelihood: Option<f64>,
    /// Data packets with a congestion mark, seen at the receiver or in between.
    pub marked: u64,
    /// Acknowledgments that echo a mark (RFC 3168 §6.1.3).
    pub echoes: u64,
    /// Segments with CWR (RFC 3168 §6.1.2).
    pub reductions: u64,
}

/// A refused conclusion.
#[derive(Clone, Debug, Serialize)]
pub struct Refused {
    /// Its kind.
    pub kind: &'static str,
    /// The reason with its figures.
    pub reason: String,
    /// The capture that would help.
    pub capture_hint: &'static str,
    /// Whether labels and shares are refused, too.
    pub is_total: bool,
    /// Whether it is only a reservation.
    pub is_reservation: bool,
}

impl Summary {
    /// The summary of a capture.
    #[must_use]
    pub fn of(capture: &Capture) -> Self {
        let refusals = match &capture.analysis {
            Some(analysis) => analysis.refusals.clone(),
            None => crate::analysis::refusals_of_capture(&capture.survey),
        };
        Self {
            capture: whole(capture),
            flow: chosen(capture),
            is_sound: capture
                .analysis
                .as_ref()
                .is_some_and(crate::analysis::Analysis::is_sound),
            refusals: refusals
                .into_iter()
                .map(|refusal| Refused {
                    kind: refusal.kind.name(),
                    reason: refusal.reason,
                    capture_hint: refusal.remedy,
                    is_total: refusal.kind.is_total(),
                    is_reservation: refusal.kind.is_reservation(),
                })
                .collect(),
        }
    }
}

fn whole(capture: &Capture) -> Whole {
    let survey = &capture.survey;
    let others = Other::ALL
        .iter()
        .map(|kind| (kind.name(), survey.others.packets(*kind)))
        .filter(|(_, packets)| *packets > 0)
        .collect();
    Whole {
        packets: survey.packets,
        tcp_packets: survey.tcp_packets,
        length_s: survey.length.as_secs_f64(),
        start_ns: survey.start_nanos,
        flows: survey.flow_count(),
        unlisted_flows: survey.unlisted().flows,
        others,
        dropped: survey.dropped,
        steps_back: survey.steps_back,
        longest_step_back_ns: survey.longest_step_back.as_nanos(),
        untimed: survey.untimed,
        is_cut: survey.is_cut,
        damage: survey.damage.as_ref().map(ToString::to_string),
        radio_frames: survey.radio_frames,
    }
}

fn chosen(capture: &Capture) -> Option<AnalysedFlow> {
    let (flow, analysis) = (capture.flow()?, capture.analysis.as_ref()?);
    let (data, acks) = (flow.data(), flow.acks());
    let (from, to) = match flow.data_way() {
        crate::packet::Way::FromClient => (flow.client, flow.server),
        crate::packet::Way::FromServer => (flow.server, flow.client),
    };
    let carrier = [
        (flow.carrier.gtp, "GTP-U"),
        (flow.carrier.vxlan, "VXLAN"),
        (flow.carrier.ip_in_ip, "IP in IP"),
    ];
    let labels = || analysis.labels.iter();
    let timeouts = || labels().filter(|label| label.trigger == Trigger::Timeout);
    let of_need = |need: Need| labels().filter(move |label| label.need == need).count();
    let shares = &analysis.shares;
    Some(AnalysedFlow {
        number: flow.number,
        data_from: from.to_string(),
        data_to: to.to_string(),
        view: analysis.vantage.place.name(),
        is_view_certain: analysis.vantage.is_certain,
        to_receiver_ns: analysis.vantage.to_receiver.map(|delay| delay.as_nanos()),
        to_sender_ns: analysis.vantage.to_sender.map(|delay| delay.as_nanos()),
        handshake_rtt_ns: flow.handshake().map(|delay| delay.as_nanos()),
        base_rtt_ns: analysis.base_rtt.map(|delay| delay.as_nanos()),
        mss: analysis.mss,
        window_scale: acks.window_scale,
        sack: analysis.has_sack,
        timestamps: analysis.has_timestamps,
        syn_seen: data.syn.is_some() && acks.syn.is_some(),
        carrier: carrier
            .into_iter()
            .filter_map(|(is_there, name)| is_there.then_some(name))
            .collect(),
        copies: flow.copies,
        bytes: data.span,
        goodput_bps: flow.goodput_bps(),
        retransmitted: analysis.labels.len(),
        needed: of_need(Need::Needed),
        needless: of_need(Need::Needless),
        timeouts: timeouts().count(),
        timeouts_spurious: timeouts()
            .filter(|label| label.need == Need::Needless)
            .count(),
        tail_probes: labels()
            .filter(|label| label.trigger == Trigger::TailProbe)
            .count(),
        overtaken: analysis.overtaken.len(),
        stops: analysis.stops.len(),
        shares: by_limit(|limit| shares.share(limit)),
        seconds: by_limit(|limit| shares.time(limit).as_secs_f64()),
        left_out_s: shares.left_out.as_secs_f64(),
        under_way_s: shares.under_way().as_secs_f64(),
        phases: phases(analysis),
        small_writes: small_writes(analysis),
        last: [data, acks].map(|half| LastSeen {
            time_ns: half.last.as_nanos(),
            closed: half.closed,
        }),
        zero_windows: acks.zero_windows,
        shows_tail_drop: analysis.hazard.shows_tail_drop,
        longest_queue_bytes: analysis.hazard.longest_bytes,
        queues: queues(analysis),
        acks_lost: analysis.lost_acks.map(|acks| acks.lost),
        other_bytes: acks.span,
        other_repeats: acks.repeats,
        segments_per_ack: analysis.acking.mean_segments(),
        acks_by_segments: analysis.acking.segments,
        lone_ack_delay_ns: analysis.acking.lone_delay.map(|delay| delay.as_nanos()),
        compressed_acks: analysis.acking.compressed,
        acks: analysis.acking.acks,
        retried_frames: analysis.retried_frames,
        cut_after_ns: analysis.cut_after.map(|time| time.as_nanos()),
        at_sender: analysis.at_sender.as_deref().map(at_sender),
    })
}

fn phases(analysis: &Analysis) -> Vec<PathPhase> {
    let phase = |phase: &Phase| PathPhase {
        from_ns: phase.from.as_nanos(),
        base_rtt_ns: phase.base.as_nanos(),
    };
    analysis.phases.iter().map(phase).collect()
}

fn small_writes(analysis: &Analysis) -> SmallWrites {
    let found = &analysis.small_writes;
    SmallWrites {
        waits: found.waits.len(),
        delayed: found.delayed,
        delay_ns: found.delay.map(|delay| delay.as_nanos()),
        held_s: found.time().as_secs_f64(),
    }
}

fn queues(analysis: &Analysis) -> Queues {
    let count = |is_it: &dyn Fn(&Sent) -> bool| {
        analysis.sent.iter().filter(|packet| is_it(packet)).count() as u64
    };
    Queues {
        is_shared: analysis.is_shared,
        policer_bps: analysis.policer.map(|policer| policer.rate_bps),
        policer_burst_bytes: analysis.policer.map(|policer| policer.burst_bytes),
        aqm_delay_ns: analysis.aqm.map(|standing| standing.from.as_nanos()),
        aqm_least_delay_ns: analysis.aqm.map(|standing| standing.least.as_nanos()),
        aqm_likelihood: analysis.aqm.map(|standing| standing.likelihood),
        marked: count(&|packet| packet.is_marked),
        echoes: analysis.acks.iter().filter(|ack| ack.has_echo).count() as u64,
        reductions: analysis.reductions,
    }
}

fn by_limit(value: impl Fn(Limit) -> f64) -> BTreeMap<&'static str, f64> {
    let named = |limit: &Limit| (limit.name(), value(*limit));
    Limit::ALL.iter().map(named).collect()
}

fn at_sender(moved: &Analysis) -> AtSender {
    let is_timeout = |label: &&Label| label.trigger == Trigger::Timeout;
    AtSender {
        timeouts: moved.labels.iter().filter(is_timeout).count(),
        base_rtt_ns: moved.base_rtt.map(|delay| delay.as_nanos()),
        shows_tail_drop: moved.hazard.shows_tail_drop,
        queues: queues(moved),
        shares: by_limit(|limit| moved.shares.share(limit)),
        seconds: by_limit(|limit| moved.shares.time(limit).as_secs_f64()),
        under_way_s: moved.shares.under_way().as_secs_f64(),
        phases: phases(moved),
        small_writes: small_writes(moved),
    }
}
