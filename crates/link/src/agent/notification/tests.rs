use airtcp_packet::SequenceNumber;

use super::*;

fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

fn data(sequence: u32, payload_bytes: u32) -> Segment {
    Segment {
        sequence: SequenceNumber(sequence),
        payload_bytes,
        flags: Flags::ACK,
        ..Segment::default()
    }
}

struct Bench {
    agent: BadStateNotification<u32>,
    events: usize,
}

impl Bench {
    fn new(interval: Duration) -> Self {
        let agent = BadStateNotification::new(NotificationConfig {
            interval,
            ..NotificationConfig::default()
        });
        Self { agent, events: 0 }
    }

    /// How many notifications come of `event`.
    fn link(&mut self, millis: u64, flow: FlowKey, segment: &Segment, event: LinkEvent) -> usize {
        let events = &mut self.events;
        let mut observer = |of, event| {
            assert_eq!((of, event), (flow, AgentEvent::Notified));
            *events += 1;
        };
        self.agent
            .on_link_event(at(millis), flow, segment, event, &mut observer);
        let mut count = 0;
        while let Some(emission) = self.agent.poll(at(millis)) {
            let expected = Emission::Feedback {
                flow,
                toward: Toward::Wired,
                feedback: LinkFeedback::BadState,
            };
            assert_eq!(emission, expected);
            count += 1;
        }
        count
    }
}

/// The paper's rule on a packet that needs four attempts: three fail, each is reported; success and
/// giving up are not reported, and no failed acknowledgment is.
#[test]
fn each_failed_attempt_for_data_is_told() {
    let mut bench = Bench::new(Duration::ZERO);
    let segment = data(1, 1_000);
    let told: Vec<usize> = [
        LinkEvent::AttemptFailed,
        LinkEvent::AttemptFailed,
        LinkEvent::AttemptFailed,
        LinkEvent::Delivered,
        LinkEvent::Discarded,
    ]
    .into_iter()
    .map(|event| bench.link(10, 3, &segment, event))
    .collect();
    assert_eq!(told, [1, 1, 1, 0, 0]);
    assert_eq!(bench.link(10, 3, &data(1, 0), LinkEvent::AttemptFailed), 0);
    assert_eq!(bench.events, 3);
}

/// Failures every 4 ms with an interval of 10 ms: notified at 0, 12, 24, ..., for each flow
/// separately.
#[test]
fn an_interval_bounds_the_rate_of_each_flow() {
    let mut bench = Bench::new(Duration::from_millis(10));
    for flow in [1, 2] {
        let told: Vec<u64> = (0..10)
            .map(|attempt| 4 * attempt)
            .filter(|&millis| {
                bench.link(millis, flow, &data(1, 500), LinkEvent::AttemptFailed) == 1
            })
            .collect();
        assert_eq!(told, [0, 12, 24, 36], "flow {flow}");
    }
    assert_eq!(bench.events, 8);
}

#[test]
fn packets_pass_unchanged_at_once_and_in_order() {
    let mut agent = BadStateNotification::new(NotificationConfig::default());
    let passages: Vec<Passage<u32>> = (0..200_u32)
        .map(|packet| Passage {
            flow: u64::from(packet % 3),
            toward: [Toward::Mobile, Toward::Wired][packet as usize % 2],
            segment: Segment {
                flags: Flags::from_bits(packet as u8),
                ..data(packet * 7, packet % 5)
            },
            packet,
        })
        .collect();
    for &passage in &passages {
        agent.handle(at(1), passage, &mut |_, _| panic!("nothing to tell"));
    }
    let sent: Vec<_> = std::iter::from_fn(|| agent.poll(at(1))).collect();
    let expected: Vec<_> = passages.into_iter().map(Emission::Pass).collect();
    assert_eq!(sent, expected);
    assert_eq!(agent.next_wakeup(), Instant::FAR_FUTURE);
}

/// Ten thousand flows, each notified once: no more than the limit are remembered.
#[test]
fn memory_is_bounded() {
    let mut bench = Bench::new(Duration::from_secs(1));
    for flow in 0..10_000 {
        assert_eq!(
            bench.link(1, flow, &data(1, 1), LinkEvent::AttemptFailed),
            1
        );
    }
    assert_eq!(bench.agent.notified.len(), DEFAULT_FLOW_LIMIT.get());
    // The newest are remembered, the oldest not.
    assert_eq!(
        bench.link(2, 9_999, &data(1, 1), LinkEvent::AttemptFailed),
        0
    );
    assert_eq!(bench.link(2, 0, &data(1, 1), LinkEvent::AttemptFailed), 1);
}
