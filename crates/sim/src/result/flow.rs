//! One flow's numbers, in groups: a row each, with its meaning and its source.
//!
//! The rows are the only declaration: JSON, the schema, the table in `docs/reference/results.md`
//! and the types of the Python package follow from them. In JSON the groups do not appear: a flow
//! is one flat object.

use airtcp_tcp::{Counters, Sender, Side};
use airtcp_units::Duration;
use schemars::JsonSchema;
use serde::Serialize;

use crate::engine::{Flow, Histogram, Unit};

/// A flow at the end of its run.
struct FinishedFlow<'a> {
    flow: &'a Flow,
    /// Duration of the run.
    duration: Duration,
}

impl FinishedFlow<'_> {
    fn started_s(&self) -> f64 {
        self.flow.start().as_secs_f64()
    }

    fn completed_s(&self) -> Option<f64> {
        self.flow.completed().map(|time| time.as_secs_f64())
    }

    /// Bits per second, from the start of the flow until it was complete, or until the end.
    fn goodput_bps(&self) -> f64 {
        let end = self.completed_s().unwrap_or(self.duration.as_secs_f64());
        let seconds = end - self.started_s();
        if seconds > 0.0 {
            self.flow.arrived() as f64 * 8.0 / seconds
        } else {
            0.0
        }
    }

    fn sender(&self) -> &Sender {
        self.flow.client().sender()
    }

    fn rtt_ms(&self, percent: u64) -> Option<f64> {
        quantile_ms(self.flow.latency().round_trips(), percent)
    }

    fn delay_ms(&self, percent: u64) -> Option<f64> {
        quantile_ms(self.flow.latency().delays(), percent)
    }

    fn delivery_ms(&self, percent: u64) -> Option<f64> {
        quantile_ms(self.flow.latency().deliveries(), percent)
    }

    /// Counters of a proxy's connection with the receiver.
    fn proxy(&self) -> Counters {
        self.flow.proxy().map_or_else(Counters::default, |relay| {
            relay.connection(Side::Server).sender().counters()
        })
    }
}

fn quantile_ms<U: Unit>(histogram: &Histogram<U>, percent: u64) -> Option<f64> {
    histogram
        .quantile(10 * percent)
        .map(Duration::as_millis_f64)
}

/// Declares the groups and the flow that has them.
macro_rules! flow {
    ($(
        $(#[$about:meta])+
        $group:ident as $place:ident of $ended:ident {
            $($(#[$meaning:meta])+ $field:ident: $kind:ty = $value:expr;)+
        }
    )+) => {
        $(
            $(#[$about])+
            #[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
            pub struct $group {
                $($(#[$meaning])+ pub $field: $kind,)+
            }

            impl $group {
                fn of($ended: &FinishedFlow<'_>) -> Self {
                    Self { $($field: $value,)+ }
                }
            }
        )+

        /// One flow's numbers. Counts are of the sender unless stated otherwise, and true: the
        /// simulator knows which packets arrived.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
        pub struct FlowSummary {
            /// Number of the flow, from 0.
            pub flow: u32,
            $($(#[$about])+ #[serde(flatten)] pub $place: $group,)+
        }

        impl FlowSummary {
            /// Creates the numbers of `flow`, number `index`, after a run of that duration.
            #[must_use]
            pub fn of(flow: &Flow, index: u32, duration: Duration) -> Self {
                let ended = FinishedFlow { flow, duration };
                Self {
                    flow: index,
                    $($place: $group::of(&ended),)+
                }
            }
        }
    };
}

flow! {
    /// The data that reached the application.
    Delivery as delivery of ended {
        /// Whether the handshake was completed: without it nothing else happens. Always false of
        /// UDP and pings.
        opened: bool = ended.flow.is_opened();
        /// Bytes that arrived × 8, per second of simulated time since the flow started until it was
        /// complete, or until the end.
        goodput_bps: f64 = ended.goodput_bps();
        /// Bytes delivered to the receiving application in order.
        delivered_bytes: u64 = ended.flow.delivered();
        /// Bytes that arrived at the receiver, each counted once: `delivered_bytes`, and bytes held
        /// after a gap at the end.
        arrived_bytes: u64 = ended.flow.arrived();
    }

    /// The sender's actions.
    Sending as sending of ended {
        /// Segments with data that were sent, retransmissions included.
        segments_sent: u64 = ended.sender().counters().segments_sent;
        /// Segments sent that repeat data sent before.
        segments_retransmitted: u64 = ended.sender().counters().segments_retransmitted;
        /// Bytes of data in them.
        bytes_retransmitted: u64 = ended.sender().counters().bytes_retransmitted;
        /// Expiries of the retransmission timer.
        timeouts: u64 = ended.sender().counters().timeouts;
        /// Timeouts that a longer timer would have avoided: the segment was not lost, and an
        /// acknowledgment of it that the retransmission had no part in arrived later.
        timeouts_spurious: u64 = ended.flow.spurious_timeouts();
        /// Timeouts of segments that were not lost, where every acknowledgment sent before the
        /// retransmission arrived was lost.
        timeouts_acknowledgments_lost: u64 = ended.flow.unacknowledged_timeouts();
        /// Entries into fast retransmit.
        fast_retransmits: u64 = ended.sender().counters().fast_retransmits;
        /// Recoveries that the sender found needless and undid.
        recoveries_taken_back: u64 = ended.sender().counters().recoveries_taken_back;
        /// Tail loss probes sent (RFC 8985 §7).
        tail_probes: u64 = ended.sender().counters().tail_probes;
    }

    /// The sender's classification of losses, if it has a classifier.
    Judgments as judgments of ended {
        /// Loss events with the first segment lost by the radio that the sender classified; 0
        /// without a classifier.
        loss_events_of_radio: u64 = ended.flow.verdicts().of_radio;
        /// Loss events of the radio that it attributed to the radio.
        loss_events_of_radio_judged_right: u64 = ended.flow.verdicts().of_radio_right;
        /// Loss events with the first segment dropped by a full queue.
        loss_events_of_congestion: u64 = ended.flow.verdicts().of_congestion;
        /// Loss events of congestion that it attributed to congestion.
        loss_events_of_congestion_judged_right: u64 = ended.flow.verdicts().of_congestion_right;
        /// Loss events of any cause that the sender classified.
        loss_events_judged: u64 = ended.flow.verdicts().by_segments.iter().sum();
        /// Classified loss events that it attributed to the radio, correctly or not.
        loss_events_judged_radio: u64 = ended.flow.verdicts().judged_radio;
        /// Classified loss events with a round trip below the mean.
        loss_events_below_mean_rtt: u64 = ended.flow.verdicts().below_mean;
        /// Classified loss events with one segment found lost.
        loss_events_of_one_segment: u64 = ended.flow.verdicts().by_segments[0];
        /// Classified loss events with two segments found lost at once.
        loss_events_of_two_segments: u64 = ended.flow.verdicts().by_segments[1];
        /// Classified loss events with three segments found lost at once.
        loss_events_of_three_segments: u64 = ended.flow.verdicts().by_segments[2];
    }

    /// The fates of its data in the network.
    Losses as losses of ended {
        /// Segments with data that found the link's queue full.
        segments_dropped_queue: u64 = ended.flow.tally().dropped_by_queue.into();
        /// Segments with data that the link lost.
        segments_lost_link: u64 = ended.flow.tally().lost_by_link.into();
        /// Segments with data that arrived with a queue's congestion mark (ECN).
        segments_marked: u64 = ended.flow.tally().marked.into();
        /// Segments that reached the receiver with nothing new in them.
        duplicate_segments_received: u64 = ended.flow.server().receiver().duplicates();
    }

    /// The sender's state at the end.
    AtEnd as at_end of ended {
        /// The sender's smoothed round-trip time at the end; null before the first sample.
        srtt_ms: Option<f64> = ended.sender().rtt().srtt().map(Duration::as_millis_f64);
        /// Retransmission timeout at the end.
        rto_ms: f64 = ended.sender().rto().as_millis_f64();
        /// The sender's minimum round-trip time: of its samples, as its timer takes them; null
        /// before the first.
        sender_min_rtt_ms: Option<f64> =
            ended.sender().rtt().minimum().map(Duration::as_millis_f64);
        /// Congestion window at the end.
        cwnd_bytes: u64 = ended.sender().cwnd();
    }

    /// The latency of its packets and bytes, measured outside the sender.
    Latencies as latency of ended {
        /// Minimum round trip of a data packet: from leaving the sender until the acknowledgment
        /// triggered by its arrival is back; null without an answer, or if a proxy answers for the
        /// receiver.
        min_rtt_ms: Option<f64> = ended
            .flow
            .latency()
            .least_round_trip()
            .map(Duration::as_millis_f64);
        /// Median of these round trips, within 1 %.
        rtt_p50_ms: Option<f64> = ended.rtt_ms(50);
        /// 95th percentile of these round trips, within 1 %.
        rtt_p95_ms: Option<f64> = ended.rtt_ms(95);
        /// 99th percentile of these round trips, within 1 %.
        rtt_p99_ms: Option<f64> = ended.rtt_ms(99);
        /// Median one-way delay of the data packets, within 1 %; null without an arrival, or with a
        /// proxy on the path.
        delay_p50_ms: Option<f64> = ended.delay_ms(50);
        /// 95th percentile of the data packets' one-way delay, within 1 %.
        delay_p95_ms: Option<f64> = ended.delay_ms(95);
        /// 99th percentile of the data packets' one-way delay, within 1 %.
        delay_p99_ms: Option<f64> = ended.delay_ms(99);
        /// Median over the bytes of the time from `write` until the receiving application reads
        /// them, within 1 %; a sender that always has more to send writes a byte when it is first
        /// sent.
        delivery_p50_ms: Option<f64> = ended.delivery_ms(50);
        /// 95th percentile of the bytes' time from `write` to reading, within 1 %.
        delivery_p95_ms: Option<f64> = ended.delivery_ms(95);
        /// 99th percentile of the bytes' time from `write` to reading, within 1 %.
        delivery_p99_ms: Option<f64> = ended.delivery_ms(99);
    }

    /// Its datagrams, if it is UDP or pings; 0 for a TCP connection.
    DatagramFates as datagrams of ended {
        /// Datagrams that its sender sent: UDP, or echo requests.
        datagrams_sent: u64 = ended.flow.datagrams().sent;
        /// Datagrams that arrived.
        datagrams_received: u64 = ended.flow.datagrams().received;
        /// Datagrams that found a queue full or were lost on the way; the rest is in flight at the
        /// end.
        datagrams_lost: u64 = ended.flow.datagrams().lost;
        /// Echo requests that were answered. `rtt_p50_ms` and its like are of these.
        pings_answered: u64 = ended.flow.datagrams().answered;
        /// Answers that were lost.
        ping_answers_lost: u64 = ended.flow.datagrams().answers_lost;
        /// Interarrival jitter at the end (RFC 3550 §6.4.1); null before the second arrival, and
        /// for a TCP connection.
        jitter_ms: Option<f64> = ended.flow.jitter().map(Duration::as_millis_f64);
    }

    /// Its packets' use of media.
    Crossings as air of ended {
        /// Packets of either direction that crossed a medium or were given up there; 0 without one.
        packets_on_air: u64 = ended.flow.tally().packets_on_air.into();
        /// Total number of their transmissions there: more than `packets_on_air` if frames had to
        /// be retransmitted.
        attempts_on_air: u64 = ended.flow.tally().attempts_on_air.into();
    }

    /// Its application's transfers.
    Completed as transfers of ended {
        /// Files, pages or messages that arrived whole; 0 without an application.
        transfers_completed: u64 = ended.flow.transfers().completed;
        /// Average duration of one, from the request or the write to its last byte; null if no
        /// transfer was completed.
        transfer_mean_s: Option<f64> = ended.flow.transfers().mean_s();
    }

    /// The actions of a proxy on its path.
    Proxied as proxy of ended {
        /// Segments that a proxy on the path sent to the receiver; 0 without one.
        proxy_segments_sent: u64 = ended.proxy().segments_sent;
        /// Segments of the proxy that repeat data.
        proxy_segments_retransmitted: u64 = ended.proxy().segments_retransmitted;
        /// Timeouts of the proxy.
        proxy_timeouts: u64 = ended.proxy().timeouts;
    }

    /// Its start and end.
    Times as times of ended {
        /// Simulated time at which the flow started.
        started_s: f64 = ended.started_s();
        /// Simulated time at which its last byte was delivered; null if it was not, or if there is
        /// no last byte.
        completed_s: Option<f64> = ended.completed_s();
    }
}
