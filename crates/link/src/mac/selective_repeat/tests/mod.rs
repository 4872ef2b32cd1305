use std::num::NonZeroU32;

use airtcp_units::{BitRate, Duration, Probability};

use super::*;
use crate::error::ErrorModel;
use crate::frame::{PacketClass, RetryLimit};
use crate::mac::damage::{Affects, DamageConfig};
use crate::queue::QueueLimit;
use crate::scheduler::RetransmissionOrder;

mod closed_forms;
mod naive;
mod timelines;

/// A millisecond: the duration of a frame of [`BYTES`] at the rate of [`config`].
const MILLISECOND: Duration = Duration::from_millis(1);
const BYTES: u32 = 125;

/// 1 Mbit/s; the access point's frames are damaged by `model`.
fn config(model: ErrorModel, delay: u64, retry_timeout: u64) -> SelectiveRepeatConfig {
    let end = EndConfig {
        queue: QueueLimit::Unlimited,
        retry_limit: RetryLimit::Unlimited,
        order: RetransmissionOrder::HeadOfLine,
    };
    SelectiveRepeatConfig {
        rate: BitRate::from_bps(1_000_000),
        delay: MILLISECOND * delay,
        retry_timeout: MILLISECOND * retry_timeout,
        overhead: 0,
        ack_time: Duration::ZERO,
        window: Window::Unlimited,
        handover: Handover::AsReceived,
        mobile: end,
        access_point: end,
        damage: DamageConfig {
            model,
            affects: Affects::Both,
            ..DamageConfig::default()
        },
        report_retries: true,
    }
}

fn independent(rate: f64) -> ErrorModel {
    ErrorModel::Independent(Probability::new(rate).unwrap())
}

fn attempts(limit: u32) -> RetryLimit {
    RetryLimit::Attempts(NonZeroU32::new(limit).unwrap())
}

fn offer(flow: u32) -> Offer {
    Offer {
        bytes: BYTES,
        flow,
        class: PacketClass::Data,
        urgency: None,
    }
}

/// The link's next outcomes, if there are any.
fn step(link: &mut SelectiveRepeatLink<u64>) -> Option<(Instant, Vec<Outcome<u64>>)> {
    let now = link.next_wakeup();
    if now == Instant::FAR_FUTURE {
        return None;
    }
    link.on_wakeup(now, &mut ());
    Some((now, std::iter::from_fn(|| link.poll()).collect()))
}

/// All that becomes of packets handed to the access point at once, each of the flow given.
fn outcomes(config: &SelectiveRepeatConfig, flows: &[u32]) -> Vec<(Instant, Outcome<u64>)> {
    let mut link = SelectiveRepeatLink::new(config, Stream::new(1, "link")).unwrap();
    for (packet, &flow) in flows.iter().enumerate() {
        let packet = packet as u64;
        assert!(link.push(
            Instant::ZERO,
            (ACCESS_POINT, MOBILE),
            offer(flow),
            packet,
            &mut ()
        ));
    }
    let mut all = Vec::new();
    while let Some((now, some)) = step(&mut link) {
        all.extend(some.into_iter().map(|outcome| (now, outcome)));
    }
    all
}

#[test]
fn what_cannot_be_is_refused() {
    let refused = |config| SelectiveRepeatLink::<()>::new(&config, Stream::new(1, "")).unwrap_err();
    let rate = SelectiveRepeatConfig {
        rate: BitRate::from_bps(0),
        ..config(ErrorModel::None, 1, 5)
    };
    assert_eq!(refused(rate), SelectiveRepeatError::Rate);
    let early = SelectiveRepeatConfig {
        ack_time: MILLISECOND,
        ..config(ErrorModel::None, 2, 4)
    };
    let expected = SelectiveRepeatError::RetryTimeout {
        timeout: MILLISECOND * 4,
        least: MILLISECOND * 5,
    };
    assert_eq!(refused(early), expected);
}
