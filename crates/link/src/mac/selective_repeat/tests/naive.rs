//! Against a second model, which goes slot by slot and looks at every packet in each.

use proptest::prelude::*;

use super::*;

/// Where a packet is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    New,
    /// To be retransmitted since that slot.
    Due(u64),
    /// Its timer expires at that slot.
    Failed(u64),
    /// Acknowledged at that slot.
    Passed(u64),
    GivenUp,
}

/// A case; times in slots of a frame each.
#[derive(Clone, Copy, Debug)]
struct Case {
    packets: usize,
    flows: u32,
    period: u32,
    lost: u32,
    delay: u64,
    ack_time: u64,
    spare: u64,
    limit: u32,
    window: Window,
    handover: Handover,
}

impl Case {
    fn config(&self) -> SelectiveRepeatConfig {
        let model = ErrorModel::Block {
            period: self.period,
            lost: self.lost,
        };
        let mut config = SelectiveRepeatConfig {
            ack_time: MILLISECOND * self.ack_time,
            window: self.window,
            handover: self.handover,
            ..config(model, self.delay, self.timeout())
        };
        config.access_point.retry_limit = attempts(self.limit);
        config
    }

    const fn timeout(&self) -> u64 {
        2 * self.delay + self.ack_time + self.spare
    }

    fn may_start(&self, states: &[State], next: usize) -> bool {
        let is_outstanding = |state: &State| matches!(state, State::Due(_) | State::Failed(_));
        let started = &states[..next];
        let under_way = |state: &&State| is_outstanding(state) || matches!(state, State::Passed(_));
        match self.window {
            Window::Unlimited => true,
            Window::Outstanding(most) => {
                (started.iter().filter(under_way).count() as u32) < most.get()
            }
            Window::Numbers(most) => {
                let oldest = started.iter().position(|state| under_way(&state));
                oldest.is_none_or(|oldest| next - oldest < most.get() as usize)
            }
        }
    }
}

/// Slots in which packets are handed on, in the order of handing on.
fn naive(case: &Case, flows: &[u32]) -> Vec<(u64, u64)> {
    let packets = flows.len();
    let mut states = vec![State::New; packets];
    let mut attempts = vec![0; packets];
    let mut known = vec![None; packets];
    let mut draws = vec![0_u32; case.flows as usize];
    let mut handed_on = Vec::new();
    let mut next = 0;
    for slot in 0..100_000 {
        for state in &mut states {
            if matches!(state, State::Passed(at) if *at <= slot) {
                *state = State::GivenUp;
            }
        }
        for packet in 0..packets {
            if states[packet] == State::Failed(slot) {
                states[packet] = State::Due(slot);
                if attempts[packet] == case.limit {
                    states[packet] = State::GivenUp;
                    known[packet] = Some((slot + case.delay, false));
                }
            }
        }
        let due = (0..packets).filter_map(|packet| match states[packet] {
            State::Due(since) => Some((since, packet)),
            _ => None,
        });
        let chosen = due.min().map(|(_, packet)| packet).or_else(|| {
            let starts = next < packets && case.may_start(&states, next);
            starts.then(|| {
                next += 1;
                next - 1
            })
        });
        if let Some(packet) = chosen {
            attempts[packet] += 1;
            let draw = &mut draws[flows[packet] as usize];
            let damaged = *draw % case.period >= case.period - case.lost;
            *draw += 1;
            let end = slot + 1;
            states[packet] = if damaged {
                State::Failed(end + case.timeout())
            } else {
                known[packet] = Some((end + case.delay, true));
                State::Passed(end + 2 * case.delay + case.ack_time)
            };
        }
        if next == packets && states.iter().all(|state| *state == State::GivenUp) {
            break;
        }
    }
    // Handed on when known; in order, when all before are known too.
    let mut latest = 0;
    for (packet, known) in known.iter().enumerate() {
        let (at, arrived) = known.expect("known in the end");
        latest = match case.handover {
            Handover::AsReceived => at,
            Handover::InOrder => at.max(latest),
        };
        if arrived {
            handed_on.push((latest, packet as u64));
        }
    }
    handed_on.sort_by_key(|&(at, packet)| (at, packet));
    handed_on
}

fn case() -> impl Strategy<Value = Case> {
    let numbers = (1..60_usize, 1..4_u32, 1..8_u32, 0..8_u32);
    let times = (0..6_u64, 0..3_u64, 0..9_u64, 1..6_u32);
    let kinds = (0..3_u8, 1..12_u32, any::<bool>());
    (numbers, times, kinds).prop_map(|(numbers, times, (kind, size, in_order))| {
        let (packets, flows, period, lost) = numbers;
        let (delay, ack_time, spare, limit) = times;
        let size = NonZeroU32::new(size).unwrap();
        Case {
            packets,
            flows,
            period,
            lost: lost.min(period),
            delay,
            ack_time,
            spare,
            limit,
            window: match kind {
                0 => Window::Unlimited,
                1 => Window::Outstanding(size),
                _ => Window::Numbers(size),
            },
            handover: if in_order {
                Handover::InOrder
            } else {
                Handover::AsReceived
            },
        }
    })
}

proptest! {
    /// The same packets are handed on in the same milliseconds.
    #[test]
    fn agrees_with_the_naive_model(case in case()) {
        let flows: Vec<u32> = (0..case.packets as u32).map(|packet| packet % case.flows).collect();
        let mut measured: Vec<_> = outcomes(&case.config(), &flows)
            .into_iter()
            .filter_map(|(now, outcome)| match outcome {
                Outcome::Delivered { packet, .. } => {
                    Some(((now - Instant::ZERO).as_nanos() / MILLISECOND.as_nanos(), packet))
                }
                _ => None,
            })
            .collect();
        if case.handover == Handover::InOrder {
            prop_assert!(measured.iter().map(|(_, packet)| packet).is_sorted());
        }
        measured.sort_unstable();
        prop_assert_eq!(measured, naive(&case, &flows));
    }
}
