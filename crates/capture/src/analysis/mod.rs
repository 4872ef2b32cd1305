//! One flow in depth: its vantage point, every retransmission labelled, the time by limits, and the
//! input of a fit of the link.
//!
//! ```text
//!   packets ─▶ wire (order, segments) ─▶ vantage
//!           └▶ follow: stream, board, timer ─▶ sent, acks, repeats, silences
//!                 └▶ verdicts ─▶ rate, causes ─▶ labels ─▶ stops ─▶ shares ─▶ refusals
//! ```

mod acking;
mod at_sender;
mod causes;
mod delay_threshold;
mod drained;
mod findings;
mod follow;
mod hazard;
mod label;
mod limit;
mod lost_acks;
mod negotiated;
mod order;
mod overtaken;
mod path_phases;
mod policer;
mod rate;
mod refusal;
mod shares;
mod small_writes;
mod spans;
mod standing_queue;
mod stops;
#[cfg(test)]
mod tests;
mod trigger;
mod two_rates;
mod vantage;
mod verdict;
mod way_back;
mod wire;

use airtcp_units::{Duration, Instant};

pub use acking::Acking;
use at_sender::UpstreamLoss;
use causes::Causes;
pub use delay_threshold::DelayThreshold;
pub use findings::{Ack, Sent};
use findings::{Findings, Repeat};
pub use hazard::{Bin, Hazard};
pub use label::{Cause, Evidence, Label, Need, Trigger};
pub use limit::{Limit, Shares};
pub use lost_acks::LostAcks;
use negotiated::NegotiatedOptions;
pub use overtaken::Overtaken;
pub use path_phases::Phase;
pub use policer::Policer;
use rate::Path;
pub use refusal::of_capture as refusals_of_capture;
pub use refusal::{Refusal, RefusalKind};
pub use small_writes::SmallWrites;
pub use stops::Stop;
pub use vantage::{Place, Vantage};
use verdict::{FlowFacts, Verdict};
use wire::InOrder;

use crate::flow::{Completeness, Flow};
use crate::index::Index;
use crate::packet::{Packet, Way};
use crate::survey::Survey;

/// The analysis of a flow.
#[derive(Clone, Debug)]
pub struct Analysis {
    /// The number of the flow.
    pub flow: u32,
    /// Direction of its data.
    pub way: Way,
    /// Vantage point.
    pub vantage: Vantage,
    /// The longest payload of a packet on the wire, in bytes.
    pub mss: u32,
    /// Whether SACK was negotiated, by the SYNs or, without them, by observed blocks.
    pub has_sack: bool,
    /// Whether the sender uses timestamps.
    pub has_timestamps: bool,
    /// Packets of the sender, in the order of the capture.
    pub sent: Vec<Sent>,
    /// Answers of the receiver.
    pub acks: Vec<Ack>,
    /// One label per retransmission.
    pub labels: Vec<Label>,
    /// Packets overtaken upstream of the capture.
    pub overtaken: Vec<Overtaken>,
    /// The stops of the link.
    pub stops: Vec<Stop>,
    /// The hazard of loss over the length of the queue.
    pub hazard: Hazard,
    /// Whether cross traffic fills the queue, too: it drops at a delay that the flow's bytes do not
    /// cause.
    pub is_shared: bool,
    /// The policer, if one explains the losses.
    pub policer: Option<Policer>,
    /// The delay threshold of an AQM.
    pub aqm: Option<DelayThreshold>,
    /// Acknowledgments lost on their way here; `None` if they are not numbered.
    pub lost_acks: Option<LostAcks>,
    /// Segments with CWR after a congestion mark (RFC 3168 §6.1.2).
    pub reductions: u64,
    /// Shares of the time by limit.
    pub shares: Shares,
    /// The receiver's acknowledgment policy.
    pub acking: Acking,
    /// Phases of the path, if its shortest round trip changes.
    pub phases: Vec<Phase>,
    /// Short segments that the sender held back (Nagle).
    pub small_writes: SmallWrites,
    /// The shortest round trip from here to the receiver and back; `None` if not measured.
    pub base_rtt: Option<Duration>,
    /// Refusals.
    pub refusals: Vec<Refusal>,
    /// End of the analysed packets if there was no room for more; `None` if complete.
    pub cut_after: Option<Instant>,
    /// Frames of the flow with the radio's retry bit.
    pub retried_frames: u64,
    /// For a capture at the receiver: the flow in its sender's view, as far as timestamps date its
    /// packets. Its packets are renumbered, and lost ones are inserted.
    pub at_sender: Option<Box<Self>>,
}

impl Analysis {
    /// Analyses a flow of a survey. `view` sets the vantage point instead of detecting it.
    #[must_use]
    pub fn of(survey: &Survey, flow: &Flow, view: Option<Place>) -> Self {
        let way = flow.data_way();
        let kept = survey.packets_of(flow).take(2).count();
        let mut refusals = refusal::of_capture(survey);
        refusals.extend(refusal::of_flow(flow, kept));
        let ordered = InOrder::of(survey, flow);
        let mut vantage = vantage::locate(ordered.packets(), flow, way);
        if let Some(place) = view {
            vantage.place = place;
            vantage.is_certain = true;
        }
        let mut analysis = Self::empty(flow, way, vantage, refusals);
        if analysis.refusals.iter().any(|one| one.kind.is_total()) {
            return analysis;
        }
        let agreed = NegotiatedOptions::of(ordered.packets(), flow, way);
        let segments = ordered.segments(way, agreed.mss, agreed.longest);
        analysis.mss = agreed.mss;
        analysis.has_sack = agreed.has_sack;
        let findings = follow::follow(way, agreed, segments.clone());
        let found = refusal::PassSummary {
            losses: 0,
            sent: findings.sent.len(),
            behind_ack: findings.behind_ack,
            unseen_bytes: findings.unseen_bytes,
            data_bytes: flow.data().span,
            base: Duration::ZERO,
            place: analysis.vantage.place,
        };
        let missing = analysis.judge(findings);
        if analysis.vantage.place == Place::Receiver {
            analysis.at_sender = analysis.moved(segments, flow, agreed, &missing);
        }
        if flow.completeness() == Completeness::Beginning {
            analysis.cut_after = analysis.sent.last().map(|packet| packet.time);
        }
        let found = refusal::PassSummary {
            losses: analysis.losses(),
            base: analysis.base_rtt.unwrap_or_default(),
            ..found
        };
        // At the receiver no answer shows the bytes in flight.
        let shares = match (analysis.vantage.place, analysis.at_sender.as_deref()) {
            (_, Some(moved)) => Some(&moved.shares),
            (Place::Receiver, None) => {
                analysis.shares = Shares::default();
                None
            }
            (_, None) => Some(&analysis.shares),
        };
        let more = refusal::of_found(&found, shares);
        analysis.refusals.extend(more);
        if analysis.refusals.iter().any(|one| one.kind.is_total()) {
            analysis.labels.clear();
            analysis.stops.clear();
            analysis.overtaken.clear();
            analysis.shares = Shares::default();
            analysis.hazard = Hazard::default();
            (analysis.policer, analysis.aqm) = (None, None);
            (analysis.phases, analysis.small_writes) = (Vec::new(), SmallWrites::default());
            analysis.at_sender = None;
        }
        analysis
            .refusals
            .extend(refusal::proxy(ordered.packets(), flow, way, &found));
        analysis
    }

    fn empty(flow: &Flow, way: Way, vantage: Vantage, refusals: Vec<Refusal>) -> Self {
        Self {
            flow: flow.number,
            way,
            vantage,
            mss: 0,
            has_sack: false,
            has_timestamps: flow.data().timestamps,
            sent: Vec::new(),
            acks: Vec::new(),
            labels: Vec::new(),
            overtaken: Vec::new(),
            stops: Vec::new(),
            hazard: Hazard::default(),
            is_shared: false,
            policer: None,
            aqm: None,
            lost_acks: None,
            reductions: 0,
            shares: Shares::default(),
            acking: Acking::default(),
            phases: Vec::new(),
            small_writes: SmallWrites::default(),
            base_rtt: None,
            refusals,
            cut_after: None,
            retried_frames: 0,
            at_sender: None,
        }
    }

    /// The flow in its sender's view, from the arrivals at its receiver.
    fn moved(
        &self,
        segments: impl Iterator<Item = Packet> + Clone,
        flow: &Flow,
        agreed: NegotiatedOptions,
        missing: &[UpstreamLoss],
    ) -> Option<Box<Self>> {
        let base = self.vantage.least_to_sender?;
        let moved = |phases: &[Phase]| {
            let packets = at_sender::packets(segments.clone(), self.way, base, phases, missing)?;
            Some(self.as_sender(packets, flow, agreed))
        };
        let whole = moved(&[])?;
        if whole.phases.is_empty() {
            return Some(Box::new(whole));
        }
        moved(&whole.phases).map(Box::new)
    }

    /// The flow from packets in its sender's view.
    fn as_sender(&self, packets: Vec<Packet>, flow: &Flow, agreed: NegotiatedOptions) -> Self {
        let vantage = Vantage {
            place: Place::Sender,
            ..self.vantage
        };
        let mut moved = Self::empty(flow, self.way, vantage, Vec::new());
        moved.mss = agreed.mss;
        moved.has_sack = agreed.has_sack;
        moved.judge(follow::follow(self.way, agreed, packets.into_iter()));
        moved
    }

    /// Number of losses: retransmissions that were needed.
    #[must_use]
    pub fn losses(&self) -> usize {
        let needed = |label: &&Label| label.need == Need::Needed;
        self.labels.iter().filter(needed).count()
    }

    /// Whether a link can be fitted to it, and remedies ranked.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.refusals.iter().all(|one| one.kind.is_reservation())
    }

    /// Derives the results of the pass; returns losses upstream of the capture.
    fn judge(&mut self, mut findings: Findings) -> Vec<UpstreamLoss> {
        let acking = Acking::of(&findings.sent, &findings.acks, self.mss);
        let path = Path::of(&findings.sent, &findings.acks, &acking);
        let base = path.as_ref().map(|path| path.base);
        // On a path that changes an answer too soon for the longer one is no answer.
        let bases: Vec<Duration> = path.map_or_else(Vec::new, |path| {
            let repeats = findings.repeats.iter();
            repeats
                .map(|repeat| path.base_at(findings.sent[repeat.sent.get()].time))
                .collect()
        });
        let facts = FlowFacts {
            place: self.vantage.place,
            base: base.unwrap_or_default(),
            back: self.vantage.to_sender.unwrap_or_default(),
            has_probes: verdict::shows_probes(&findings.repeats),
            has_sack: self.has_sack,
            mss: u64::from(self.mss),
        };
        let verdicts = verdict::judge(
            &findings.repeats,
            &mut findings.sent,
            &findings.acks,
            facts,
            &bases,
        );
        let path = Path::of(&findings.sent, &findings.acks, &acking);
        if let Some(path) = &path {
            self.stops = stops::find(&findings.silences, &findings.sent, &findings.acks, path);
        }
        let told = (!self.has_sack).then(|| rate::is_told_without_sack(&findings.sent));
        let is_told = |place: usize| told.as_ref().is_none_or(|told| told[place]);
        // At the receiver no answer shows a queue.
        let causes = match &path {
            Some(path) if self.vantage.place != Place::Receiver => {
                Causes::of(&findings.sent, &findings.acks, path, is_told)
            }
            _ => Causes::default(),
        };
        for (repeat, verdict) in findings.repeats.iter().zip(&verdicts) {
            if verdict.is_overtaken {
                self.overtaken
                    .push(Overtaken::of(&findings, repeat, verdict));
            } else {
                let label = self.label(&findings, repeat, verdict, &causes);
                self.labels.push(label);
            }
        }
        let waits = waits(&self.labels, &findings);
        if self.vantage.place == Place::Sender {
            findings.gaps.append(&mut findings.holes);
            findings.gaps.sort_unstable();
        }
        self.small_writes = match (self.vantage.place, self.vantage.least_to_sender) {
            (Place::Sender, _) => {
                let base = path.as_ref().map(|path| path.base).unwrap_or_default();
                small_writes::find(&findings.sent, &findings.acks, base)
            }
            (Place::Receiver, Some(to_sender)) => {
                small_writes::find_at_receiver(&findings.sent, &findings.acks, to_sender)
            }
            _ => SmallWrites::default(),
        };
        // A receiver's delayed-ACK timer is not a silence of the link.
        self.stops
            .retain(|stop| !self.small_writes.holds(stop.start, stop.end));
        self.shares = shares::share_out(
            &findings,
            path.as_ref(),
            &self.stops,
            &waits,
            &self.small_writes.waits,
            self.mss,
        );
        self.phases = path.map(|path| path.phases).unwrap_or_default();
        self.acking = Acking::of(&findings.sent, &findings.acks, self.mss);
        self.base_rtt = base;
        self.retried_frames = findings.retried_frames;
        let missing = missing(&findings, &verdicts);
        for (at, packet) in findings.sent.iter_mut().enumerate() {
            packet.meets_full_queue = causes.is_queues(at);
        }
        for label in &self.labels {
            let lost = findings.sent[label.sent].previous;
            if let Some(lost) = lost {
                findings.sent[lost.get()].lost_to = label.loss;
            }
        }
        self.hazard = causes.hazard;
        (self.is_shared, self.policer) = (causes.is_shared, causes.policer);
        self.aqm = causes.standing;
        self.reductions = findings.reductions.len() as u64;
        if self.vantage.place == Place::Sender {
            let reports: Vec<(u32, u32)> = findings
                .acks
                .iter()
                .map(|ack| (ack.newly, ack.missing_before))
                .collect();
            self.lost_acks = LostAcks::count(&reports);
        }
        self.sent = findings.sent;
        self.acks = findings.acks;
        missing
    }

    fn label(
        &self,
        findings: &Findings,
        repeat: &Repeat,
        verdict: &Verdict,
        causes: &Causes,
    ) -> Label {
        let sent = &findings.sent[repeat.sent.get()];
        let previous = sent.previous_in(&findings.sent);
        let is_refused = verdict.evidence == Evidence::Refused;
        let is_loss =
            verdict.need == Need::Needed && verdict.trigger != Trigger::WindowProbe && !is_refused;
        let lost = sent.previous.map(Index::get);
        let queue_bytes = lost
            .filter(|_| is_loss)
            .and_then(|lost| causes.queue_bytes(lost));
        let loss = is_loss.then(|| match lost {
            Some(lost) if !verdict.is_upstream => causes.of_loss(lost),
            _ => Cause::NotShown,
        });
        let is_timer = matches!(verdict.trigger, Trigger::Timeout | Trigger::TailProbe);
        let cause = match (verdict.need, loss) {
            (Need::Needed, _) if is_refused => Cause::Reordering,
            (Need::Needless, _) if verdict.trigger == Trigger::Fast => {
                verdict.in_order.unwrap_or(Cause::Reordering)
            }
            (Need::Needless, _) if is_timer || verdict.trigger == Trigger::GoOn => {
                Cause::DelaySpike
            }
            (Need::Needed, Some(_)) if previous.is_some_and(|lost| lost.attempt > 0) => {
                Cause::LostRetransmission
            }
            (Need::Needed, Some(_)) if is_timer && repeat.is_tail => Cause::TailOfFlight,
            (Need::Needed, Some(loss)) => loss,
            _ => Cause::NotShown,
        };
        Label {
            sent: repeat.sent.get(),
            time: sent.time,
            number: sent.number,
            original: previous.map(|packet| packet.number),
            start: sent.start,
            end: sent.end,
            attempt: sent.attempt,
            trigger: verdict.trigger,
            backoff: repeat.backoff,
            timeout: repeat.timeout,
            need: verdict.need,
            evidence: verdict.evidence,
            cause,
            loss,
            queue_bytes,
            late_by: verdict.late_by,
            overtaken_by: if cause == Cause::Reordering {
                repeat.bytes_above
            } else {
                0
            },
            is_upstream: verdict.is_upstream,
            radio_retry: sent.radio_retry,
        }
    }
}

/// Losses upstream of the capture, with the repairing and the revealing packet.
fn missing(findings: &Findings, verdicts: &[Verdict]) -> Vec<UpstreamLoss> {
    let place = |at: Index| findings.sent[at.get()].index;
    let pairs = findings.repeats.iter().zip(verdicts);
    pairs
        .filter(|(_, verdict)| verdict.is_upstream && verdict.need == Need::Needed)
        .filter_map(|(repeat, _)| {
            Some(UpstreamLoss {
                repair: place(repeat.sent),
                before: place(repeat.revealed_by?),
            })
        })
        .collect()
}

/// Periods in which the sender waited for its timer though the data was lost: from the last packet
/// in either direction to the retransmission.
fn waits(labels: &[Label], findings: &Findings) -> Vec<(Instant, Instant)> {
    labels
        .iter()
        .filter(|label| label.trigger == Trigger::Timeout && label.need != Need::Needless)
        .map(|label| {
            let ack = findings
                .acks
                .partition_point(|ack| ack.number < label.number);
            let ack = ack.checked_sub(1).map(|at| findings.acks[at].time);
            let data = label.sent.checked_sub(1).map(|at| findings.sent[at].time);
            (ack.max(data).unwrap_or(label.time), label.time)
        })
        .collect()
}
