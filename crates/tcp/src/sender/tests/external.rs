//! The calls of a control that is not compiled in, in Linux's order.

#![expect(
    clippy::single_range_in_vec_init,
    reason = "a report of one block is a slice of one range"
)]

use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use std::sync::Mutex;

use super::*;
use crate::config::CongestionControl;
use crate::external::{Call, ExternalControl, Operations, Socket, Source};

type Log = Arc<Mutex<Vec<String>>>;

/// Records its calls; it grows by a segment each, and takes three quarters at a loss.
#[derive(Clone, Debug)]
struct Recorder {
    log: Log,
    is_model: bool,
}

impl Operations for Recorder {
    fn boxed(&self) -> Box<dyn Operations> {
        Box::new(self.clone())
    }

    fn is_model(&self) -> bool {
        self.is_model
    }

    fn call(&mut self, call: Call<'_>, socket: &mut Socket) -> Result<Option<u64>, String> {
        let mut returned = None;
        let line = match call {
            Call::Init => format!("init srtt {}", socket.srtt.as_nanos() / 1_000_000),
            Call::AckEvent(_) => return Ok(None),
            Call::Acked(sample) => {
                let rtt = sample.rtt.map(|rtt| rtt.as_nanos() / 1_000_000);
                format!("acked {} rtt {rtt:?} lost {}", sample.acked, socket.lost)
            }
            Call::Threshold => {
                returned = Some(u64::from(socket.cwnd * 3 / 4));
                format!("ssthresh of {} lost {}", socket.cwnd, socket.lost)
            }
            Call::SetState(state) => format!("{:?} to {state:?}", socket.state),
            Call::Event(event) => format!("event {event:?}"),
            Call::Grow(acked) => {
                socket.cwnd += 1;
                format!("grow {acked}")
            }
            Call::Control(sample) => {
                socket.cwnd = 7;
                socket.pacing_rate = 125_000;
                let (flags, marked) = (sample.news.flags(), sample.marked);
                let (acked, losses) = (sample.acked, sample.losses);
                format!("control {acked} losses {losses} news {flags:x} marked {marked:?}")
            }
            Call::Undo => {
                returned = Some(u64::from(socket.prior.0));
                format!("undo to {}", socket.prior.0)
            }
            Call::LeastBurst => {
                returned = Some(1);
                "burst".to_owned()
            }
            Call::Release => "release".to_owned(),
        };
        self.log.lock().unwrap().push(line);
        Ok(returned)
    }
}

#[derive(Debug)]
struct Records(Recorder);

impl Source for Records {
    fn name(&self) -> &str {
        "recorder"
    }

    fn operations(&self) -> Box<dyn Operations> {
        self.0.boxed()
    }
}

fn linux(is_model: bool) -> (Trace, Log) {
    let log = Log::default();
    let recorder = Recorder {
        log: log.clone(),
        is_model,
    };
    let control = ExternalControl::keep(Box::new(Records(recorder)));
    let config = Config {
        congestion: CongestionControl::External(control),
        mss: 1000,
        timestamps: false,
        tail_loss_probe: false,
        ..Profile::Linux.config()
    };
    (Trace::new(config), log)
}

fn taken(log: &Log) -> Vec<String> {
    core::mem::take(&mut log.lock().unwrap())
}

#[test]
fn the_end_of_the_connection_is_a_controls_last_call() {
    let (mut trace, log) = linux(false);
    // Without a connection there is nothing to release.
    trace.sender.release_external();
    assert_eq!(taken(&log), [""; 0]);
    let (mut trace, log) = linux(false);
    trace.at(0).write(100).poll();
    taken(&log);
    trace.sender.release_external();
    trace.sender.release_external();
    trace.at(100).ack(2);
    assert_eq!(taken(&log), ["release"]);
}

#[test]
fn a_window_based_control_is_called_as_linux_calls_it() {
    let (mut trace, log) = linux(false);
    trace.at(0).write(100).poll();
    assert_eq!(taken(&log), ["init srtt 100", "event TransmissionStart"]);
    trace.at(100).ack(2);
    assert_eq!(taken(&log), ["acked 2 rtt Some(100) lost 0", "grow 2"]);
    assert_eq!(trace.sender.cwnd(), 11 * MSS);
    // Segment 2 is reordered, or lost: too little time has passed to distinguish the two.
    trace.at(101).sack(2, &[3..4]);
    assert_eq!(
        taken(&log),
        ["acked 0 rtt Some(101) lost 0", "Open to Disorder"]
    );
    trace.sack(2, &[3..7]);
    let calls = taken(&log);
    assert_eq!(calls[0], "acked 0 rtt Some(101) lost 0");
    assert_eq!(calls[1], "ssthresh of 11 lost 1");
    assert_eq!(calls[2..], ["Disorder to Recovery"]);
    assert_eq!(trace.sender.ssthresh(), Some(8 * MSS));
    let sent = trace.sender.nxt() / MSS;
    trace.at(201).ack(sent);
    let calls = taken(&log);
    assert!(calls[0].starts_with("acked"), "{calls:?}");
    assert_eq!(calls[1], "event ReductionComplete");
    assert_eq!(calls[2], "Recovery to Open");
    assert_eq!(calls[3].split(' ').next(), Some("grow"), "{calls:?}");
}

/// Linux, `tcp_end_cwnd_reduction`: the end of a reduction for a mark is reported as a repair's is.
#[test]
fn a_reduction_for_a_mark_begins_and_ends_as_linux_reports_it() {
    let (mut trace, log) = linux(false);
    trace.sender.heed_marks(MarkFeedback::Echo);
    trace.at(0).write(100).poll();
    taken(&log);
    trace.at(100).marked(2);
    let calls = taken(&log);
    assert!(calls[1].starts_with("ssthresh of 10"), "{calls:?}");
    assert_eq!(calls[2..], ["Open to ReducedForMark"]);
    trace.at(101).ack(10);
    let sent = trace.sender.nxt() / MSS;
    taken(&log);
    trace.at(201).ack(sent);
    let calls = taken(&log);
    assert_eq!(calls[1], "event ReductionComplete", "{calls:?}");
    assert_eq!(calls[2], "ReducedForMark to Open");
}

/// The figures that the last call for a model has, of three acknowledgments: one in sequence, one
/// with SACK blocks, one with a mark echoed.
#[test]
fn a_model_sees_the_news_of_an_acknowledgment() {
    let (mut trace, log) = linux(true);
    trace.sender.heed_marks(MarkFeedback::Echo);
    trace.at(0).write(100).poll();
    let news = |log: &Log| {
        let calls = taken(log);
        let call = calls.iter().rfind(|call| call.starts_with("control"));
        call.and_then(|call| call.split_once("news ").map(|(_, news)| news.to_owned()))
    };
    trace.at(100).ack(2);
    assert_eq!(news(&log).as_deref(), Some("404 marked (0, 0)"));
    trace.at(101).sack(2, &[3..4]);
    assert_eq!(news(&log).as_deref(), Some("20 marked (0, 0)"));
    trace.at(102).marked(5);
    assert_eq!(news(&log).as_deref(), Some("444 marked (2, 0)"));
    // What was marked before the sample began is in its second figure.
    trace.at(103).poll();
    let sent = trace.sender.nxt() / MSS;
    trace.at(220).marked(sent);
    let last = news(&log).unwrap();
    let (flags, marked) = last.split_once(" marked ").unwrap();
    assert_eq!(flags, "444");
    assert!(marked.ends_with("2)"), "{marked}");
}

/// `prr_delivered` and `prr_out` count from the reduction on, to the end of the repair.
#[test]
fn a_reduction_counts_segments_delivered_and_sent() {
    let (mut trace, log) = linux(false);
    trace.at(0).write(100).poll();
    let sent = trace.at(101).sack(0, &[1..7]).split_whitespace().count();
    taken(&log);
    trace.at(102).sack(0, &[1..8]);
    let reduced = |trace: &Trace| trace.sender.external().unwrap().socket().reduced;
    let (delivered, out) = reduced(&trace);
    assert_eq!((delivered, out as usize), (6, sent));
    trace.at(103).sack(0, &[1..9]);
    assert_eq!(reduced(&trace).0, 7);
}

#[test]
fn a_timeout_marks_all_lost_before_the_threshold_is_asked_for() {
    let (mut trace, log) = linux(false);
    trace.at(0).write(100).poll();
    taken(&log);
    trace.wake_when_due();
    assert_eq!(
        taken(&log),
        ["ssthresh of 10 lost 10", "event Loss", "Open to Loss"]
    );
    assert_eq!(trace.sender.ssthresh(), Some(7 * MSS));
    assert_eq!(trace.sender.cwnd(), MSS);
    // The next expiry of the same segment asks for no threshold.
    trace.poll();
    taken(&log);
    trace.wake_when_due();
    assert_eq!(taken(&log), Vec::<String>::new());
}

#[test]
fn a_model_sets_window_and_pace_in_every_state() {
    let (mut trace, log) = linux(true);
    trace.at(0).write(100).poll();
    assert_eq!(
        taken(&log),
        ["init srtt 100", "burst", "event TransmissionStart"]
    );
    trace.at(100).ack(2);
    assert_eq!(
        taken(&log),
        [
            "acked 2 rtt Some(100) lost 0",
            "control 2 losses 0 news 404 marked (0, 0)",
            "burst"
        ]
    );
    assert_eq!(trace.sender.cwnd(), 7 * MSS);
    trace.at(101).sack(2, &[3..7]);
    let calls = taken(&log);
    assert_eq!(calls[1], "ssthresh of 7 lost 1", "{calls:?}");
    assert_eq!(calls[2], "Open to Recovery");
    assert_eq!(calls[3], "control 4 losses 1 news 20 marked (0, 0)");
    assert_eq!(trace.sender.cwnd(), 7 * MSS);
}
