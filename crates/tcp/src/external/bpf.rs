//! A BPF program as a control: the sender's state is copied to the mirror of its socket, and the
//! program's changes are copied back.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use airtcp_bpf::{Arguments, CongControlArguments, Field, Flow, Member, Operation, Program, Slot};
use airtcp_units::{Duration, Instant};

use super::operations::{AckSample, Call, DeliverySample, Operations, Socket, Source};

/// The initial sequence number of a mirror: near the wrap, so that a program that compares
/// sequence numbers wrongly shows it at once.
const INITIAL_SEQUENCE: u64 = 0xffff_0000;
/// Largest burst of segmentation offload, in bytes (Linux, `GSO_LEGACY_MAX_SIZE`).
const GSO_MAX_SIZE: u64 = 65_536;

/// A loaded program, which all flows and runs share.
#[derive(Clone, Debug)]
pub struct BpfProgram(Arc<Program>);

impl BpfProgram {
    /// Makes a control of a program.
    #[must_use]
    pub fn new(program: Program) -> Self {
        Self(Arc::new(program))
    }
}

impl Source for BpfProgram {
    fn name(&self) -> &str {
        &self.0.name
    }

    fn operations(&self) -> Box<dyn Operations> {
        Box::new(Control {
            program: self.0.clone(),
            flow: Flow::new(&self.0, 0),
        })
    }
}

#[derive(Clone, Debug)]
struct Control {
    program: Arc<Program>,
    flow: Flow,
}

impl Operations for Control {
    fn boxed(&self) -> Box<dyn Operations> {
        Box::new(self.clone())
    }

    fn is_model(&self) -> bool {
        self.program.entry(Operation::CongControl).is_some()
    }

    fn call(&mut self, call: Call<'_>, socket: &mut Socket) -> Result<Option<u64>, String> {
        let sequence = |offset: u64| u64::from(sequence(offset));
        let (operation, arguments) = match call {
            Call::Init => (Operation::Init, Arguments::Socket),
            Call::AckEvent(flags) => (Operation::InAckEvent, Arguments::Number(flags.into())),
            Call::Acked(_) => (Operation::PktsAcked, Arguments::Sample),
            Call::Threshold => (Operation::Ssthresh, Arguments::Socket),
            Call::SetState(state) => (Operation::SetState, Arguments::Number(state as u64)),
            Call::Event(event) => (Operation::CwndEvent, Arguments::Number(event as u64)),
            Call::Grow(acked) => {
                let ack = sequence(socket.una);
                (Operation::CongAvoid, Arguments::Numbers(ack, acked.into()))
            }
            Call::Control(sample) => match self.program.cong_control {
                CongControlArguments::Sample => (Operation::CongControl, Arguments::Sample),
                CongControlArguments::AckFlagSample => {
                    let ack = sequence(socket.una);
                    let flags = sample.news.flags().into();
                    (Operation::CongControl, Arguments::NumbersSample(ack, flags))
                }
            },
            Call::Undo => (Operation::UndoCwnd, Arguments::Socket),
            Call::LeastBurst => (Operation::MinTsoSegs, Arguments::Socket),
            Call::Release => (Operation::Release, Arguments::Socket),
        };
        if self.program.entry(operation).is_none() {
            return Ok(None);
        }
        self.copy_in(call, socket);
        let before = self.writable();
        let returned = self.flow.call(&self.program, operation, arguments);
        let returned = returned.map_err(|fault| fault.to_string())?;
        self.copy_out(before, socket);
        Ok(returned)
    }

    fn seed(&mut self, seed: u64) {
        self.flow.environment.seed(seed);
    }

    fn counters(&self) -> Vec<(String, i128)> {
        let counters = self.program.counters().iter();
        counters
            .map(|counter| (counter.name.clone(), self.flow.variable(counter)))
            .collect()
    }

    fn instructions(&self) -> u64 {
        self.flow.work().0
    }

    fn message(&self, index: usize) -> Option<(Instant, &str)> {
        let message = self.flow.environment.messages().get(index)?;
        Some((Instant::from_nanos(message.at_ns), &message.text))
    }

    fn messages(&self) -> Vec<(Instant, String)> {
        let messages = self.flow.environment.messages().iter();
        messages
            .map(|message| (Instant::from_nanos(message.at_ns), message.text.clone()))
            .collect()
    }
}

/// The members that a program may change, and whose change the sender heeds.
const WRITABLE: [Member; 4] = [
    Member::Cwnd,
    Member::Ssthresh,
    Member::PacingRate,
    Member::PacingStatus,
];

impl Control {
    fn writable(&self) -> [Option<u64>; 4] {
        WRITABLE.map(|member| self.flow.get(&self.program, member))
    }

    fn copy_out(&self, before: [Option<u64>; 4], socket: &mut Socket) {
        for ((member, before), after) in WRITABLE.iter().zip(before).zip(self.writable()) {
            let Some(value) = after.filter(|_| after != before) else {
                continue;
            };
            match member {
                Member::Cwnd => socket.cwnd = low(value),
                Member::Ssthresh => socket.ssthresh = low(value),
                Member::PacingRate => socket.pacing_rate = value,
                _ => socket.paced |= value > 0,
            }
        }
    }

    fn copy_in(&mut self, call: Call<'_>, socket: &Socket) {
        self.flow.environment.now_ns = socket.now.as_nanos();
        for index in 0..self.program.layout.slots().len() {
            if let Some(slot) = self.program.layout.slots().get(index).copied() {
                self.copy_member(slot, socket);
            }
        }
        match call {
            Call::Init => self.flow.clear_private(&self.program),
            Call::Threshold => self.flow.set(&self.program, Member::CwndCount, 0),
            Call::Acked(sample) => self.write_ack_sample(sample, socket),
            Call::Control(sample) => self.write_rate_sample(sample, socket),
            _ => {}
        }
    }

    fn copy_member(&mut self, slot: Slot, socket: &Socket) {
        let jiffies = |time: Instant| {
            let hz = u64::from(self.program.hz);
            time.as_nanos() / (1_000_000_000 / hz.max(1)).max(1)
        };
        let sequence = |offset: u64| u64::from(sequence(offset));
        let in_jiffies = |span: Duration| jiffies(Instant::from_nanos(span.as_nanos()));
        let value = match slot.member {
            // Private to the program.
            Member::Private | Member::CwndCount | Member::CwndStamp => return,
            Member::RttMin => {
                let (now, rtt) = (low(jiffies(socket.now)), low(micros(socket.min_rtt)));
                self.flow
                    .set_minmax(slot, now, if rtt == 0 { u32::MAX } else { rtt });
                return;
            }
            Member::State => socket.state as u64,
            Member::Retransmits | Member::Backoff => socket.expiries.into(),
            Member::Rto => in_jiffies(socket.rto),
            Member::Cwnd => socket.cwnd.into(),
            Member::CwndClamp => socket.cwnd_clamp.into(),
            Member::Ssthresh => socket.ssthresh.into(),
            Member::PriorCwnd => socket.prior.0.into(),
            Member::PriorSsthresh => socket.prior.1.into(),
            Member::PrrDelivered => socket.reduced.0.into(),
            Member::PrrOut => socket.reduced.1.into(),
            Member::PacketsOut => socket.outstanding.into(),
            Member::SackedOut => socket.sacked.into(),
            Member::LostOut => socket.lost.into(),
            Member::RetransOut => socket.resent.into(),
            Member::MaxPacketsOut => socket.most_outstanding.into(),
            Member::IsCwndLimited => socket.is_cwnd_limited.into(),
            Member::MssCache => socket.mss.into(),
            Member::SndUna => sequence(socket.una),
            Member::SndNxt => sequence(socket.nxt),
            Member::WriteSeq => sequence(socket.written),
            Member::HighSeq => sequence(socket.recovery_point),
            Member::Lost => socket.lost_in_all.into(),
            Member::Delivered => socket.delivered.into(),
            Member::DeliveredCe => socket.marked.into(),
            Member::BytesAcked => socket.una,
            Member::BytesSent => socket.nxt + socket.bytes_resent,
            Member::BytesRetrans => socket.bytes_resent,
            Member::DataSegsOut | Member::SegsOut => socket.segments_sent,
            Member::TotalRetrans => socket.segments_resent,
            Member::Srtt => micros(socket.srtt) * 8,
            Member::Mdev | Member::RttVar => micros(socket.rttvar) * 4,
            Member::Mstamp => socket.now.as_nanos() / 1_000,
            Member::ClockCache => socket.now.as_nanos(),
            Member::DepartureTime => socket.next_departure.as_nanos(),
            Member::DeliveredMstamp => socket.delivered_at.as_nanos() / 1_000,
            Member::FirstTxMstamp => socket.first_sent_at.as_nanos() / 1_000,
            Member::AppLimited => socket.app_limited.into(),
            Member::Reordering => socket.reordering.into(),
            Member::ReordSeen => socket.reorderings_seen.into(),
            Member::DsackDups => socket.duplicates_reported.into(),
            Member::SndWnd => socket.peer_window,
            Member::Lsndtime => jiffies(socket.last_sent_at),
            Member::PacingRate => socket.pacing_rate,
            Member::MaxPacingRate => u64::MAX,
            Member::PacingStatus => socket.paced.into(),
            Member::PacingShift => 10,
            Member::GsoMaxSize => GSO_MAX_SIZE,
            Member::EcnFlags => socket.uses_marks.into(),
        };
        self.flow.set_slot(slot, value);
    }

    fn write_ack_sample(&mut self, sample: &AckSample, socket: &Socket) {
        self.flow
            .write_sample(&self.program, "ack_sample", |field| match field {
                Field::PktsAcked => sample.acked.into(),
                Field::AckRtt => signed_micros(sample.rtt),
                // Linux gives bytes: segments of `mss_cache`.
                Field::AckInFlight => i64::from(sample.in_flight) * i64::from(socket.mss),
                _ => 0,
            });
    }

    fn write_rate_sample(&mut self, sample: &DeliverySample, socket: &Socket) {
        let interval = sample
            .rate
            .map_or(-1, |(_, interval)| signed_micros(Some(interval)));
        self.flow
            .write_sample(&self.program, "rate_sample", |field| match field {
                Field::PriorMstamp => signed(sample.prior.0.as_nanos() / 1_000),
                Field::PriorDelivered => sample.prior.1.into(),
                Field::RateDelivered => sample.rate.map_or(-1, |(delivered, _)| delivered.into()),
                Field::PriorDeliveredCe => sample.marked.1.into(),
                Field::RateDeliveredCe => sample.marked.0.into(),
                Field::Interval | Field::SndInterval | Field::RcvInterval => interval,
                Field::RateRtt => signed_micros(sample.rtt),
                Field::Losses => sample.losses.into(),
                Field::AckedSacked => sample.acked.into(),
                Field::PriorInFlight => sample.prior_in_flight.into(),
                Field::LastEndSeq => i64::from(sequence(socket.una)),
                Field::IsAppLimited => sample.is_app_limited.into(),
                _ => 0,
            });
    }
}

/// The sequence number of an offset.
fn sequence(offset: u64) -> u32 {
    low(offset.wrapping_add(INITIAL_SEQUENCE))
}

const fn micros(span: Duration) -> u64 {
    span.as_nanos() / 1_000
}

fn signed_micros(span: Option<Duration>) -> i64 {
    span.map_or(-1, |span| signed(micros(span)))
}

fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "members have 32 bits and wrap"
)]
const fn low(value: u64) -> u32 {
    value as u32
}
