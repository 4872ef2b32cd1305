//! Any segments in any order.

use airtcp_packet::{SequenceNumber, Timestamps};
use proptest::prelude::*;

use super::super::*;
use super::sequences::{at, ms};

fn numbers() -> impl Strategy<Value = u32> {
    prop_oneof![4 => 0_u32..20_000, 1 => any::<u32>()]
}

fn segments() -> impl Strategy<Value = Segment> {
    let flags = prop_oneof![8 => Just(Flags::ACK.bits()), 1 => any::<u8>()];
    let payload = prop_oneof![2 => Just(0), 2 => 1_u32..3_000, 1 => any::<u32>()];
    let stamps = prop::option::of((numbers(), numbers()));
    (numbers(), numbers(), payload, flags, stamps).prop_map(
        |(sequence, acknowledgment, payload_bytes, flags, stamps)| Segment {
            sequence: SequenceNumber(sequence),
            acknowledgment: SequenceNumber(acknowledgment),
            payload_bytes,
            flags: Flags::from_bits(flags),
            timestamps: stamps.map(|(value, echo)| Timestamps { value, echo }),
            ..Segment::default()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// Nothing panics, and the answers stay in bounds: no timer runs out earlier than half a wired
    /// half before its floor, or later than the ceiling.
    #[test]
    fn random_segments_do_no_harm(
        steps in prop::collection::vec((0_u64..400, 0_u64..3, any::<bool>(), segments()), 0..200),
        ticks in any::<bool>(),
    ) {
        let method = if ticks {
            PassiveMethod::Timestamps { tick: ms(500) }
        } else {
            PassiveMethod::SelfClocking
        };
        let config = InformationBoxConfig {
            method,
            flow_limit: NonZeroUsize::new(2).unwrap(),
            ..InformationBoxConfig::default()
        };
        let mut information = InformationBox::new(config).unwrap();
        let mut now = 0;
        for (wait, flow, up, segment) in steps {
            now += wait;
            let toward = if up { Toward::Wired } else { Toward::Mobile };
            information.observe(at(now), flow, toward, &segment);
            if let Some(urgency) = information.urgency(at(now), flow, &segment) {
                prop_assert!(urgency.expires <= at(now) + config.timeout_ceiling);
                prop_assert_eq!(Some(urgency.round_trip), information.round_trip(flow));
            }
            prop_assert!(information.flows.len() <= 2);
        }
    }
}

#[test]
fn ten_thousand_flows_take_bounded_memory() {
    let mut information = InformationBox::new(InformationBoxConfig::default()).unwrap();
    for flow in 0..10_000 {
        let segment = Segment {
            payload_bytes: 100,
            flags: Flags::ACK,
            ..Segment::default()
        };
        information.observe(at(1), flow, Toward::Mobile, &segment);
    }
    assert_eq!(information.flows.len(), DEFAULT_FLOW_LIMIT.get());
}
