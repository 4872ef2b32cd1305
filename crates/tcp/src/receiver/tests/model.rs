//! The receiver compared with a naive one: a flag for each byte.

use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
enum Operation {
    /// Bytes from an offset on, perhaps followed by a FIN if they end the stream.
    Arrive(u64, u64, bool),
    Read(u64),
    Acknowledge,
    Pass(u64),
}

/// End of the test's stream.
const END: u64 = 400;
const BUFFER: u64 = 120;

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        6 => (0..END, 1_u64..50, any::<bool>())
            .prop_map(|(start, length, fin)| Operation::Arrive(start, length, fin)),
        3 => (1_u64..100).prop_map(Operation::Read),
        3 => Just(Operation::Acknowledge),
        1 => (1_u64..60).prop_map(Operation::Pass),
    ]
}

#[derive(Default)]
struct Model {
    held: Vec<bool>,
    fin: bool,
    read: u64,
    /// The last announced right edge.
    edge: u64,
    /// Whether an acknowledgment is owed for longer than the delay allows.
    now: u64,
    oldest_unacknowledged: Option<u64>,
}

impl Model {
    fn prefix(&self) -> u64 {
        self.held
            .iter()
            .position(|&held| !held)
            .unwrap_or(self.held.len()) as u64
    }

    fn finished(&self) -> bool {
        self.fin && self.prefix() == END
    }

    fn next_expected(&self) -> u64 {
        self.prefix() + u64::from(self.finished())
    }
}

proptest! {
    #[test]
    fn agrees_with_a_map_of_bytes(
        operations in prop::collection::vec(operation(), 1..150),
        sack: bool,
    ) {
        let config = Config { mss: 20, sack, receive_buffer: BUFFER, ..Config::default() };
        let mut receiver = Receiver::new(&config, 20);
        let mut model = Model { held: vec![false; END as usize], edge: BUFFER, ..Model::default() };
        for operation in operations {
            match operation {
                Operation::Arrive(start, length, fin) => {
                    // The connection trims to the window before it passes data on.
                    let window = receiver.acceptable();
                    let end = (start + length).min(END);
                    let fin = fin && end == END && end <= window.end;
                    let end = end.min(window.end);
                    if end + u64::from(fin) <= window.start.max(start) {
                        continue;
                    }
                    receiver.on_data(at(model.now), start..end, fin);
                    (start..end).for_each(|byte| model.held[byte as usize] = true);
                    model.fin |= fin;
                    let now = model.now;
                    model.oldest_unacknowledged.get_or_insert(now);
                }
                Operation::Read(most) => {
                    let bytes = receiver.read(most);
                    prop_assert_eq!(bytes, most.min(model.prefix() - model.read));
                    model.read += bytes;
                }
                Operation::Acknowledge => {
                    let mut ranges: [Range<u64>; MAX_REPORTED] = std::array::from_fn(|_| 0..0);
                    let count = receiver.take_report(&mut ranges);
                    prop_assert!(sack || count == 0);
                    for range in &ranges[..count] {
                        let mut bytes = range.start..range.end.min(END);
                        prop_assert!(!range.is_empty());
                        prop_assert!(bytes.all(|byte| model.held[byte as usize]));
                    }
                    // All data held after a gap is reported, if it fits.
                    let waiting: Vec<_> = (model.prefix()..END)
                        .filter(|&byte| {
                            model.held[byte as usize]
                                && (byte == 0 || !model.held[byte as usize - 1])
                        })
                        .collect();
                    for start in waiting.iter().take(if waiting.len() < 4 { 3 } else { 0 }) {
                        prop_assert!(
                            !sack || ranges[..count].iter().any(|range| range.start == *start)
                        );
                    }
                    let edge = receiver.next_expected() + receiver.window();
                    receiver.on_ack_sent();
                    prop_assert!(edge >= model.edge);
                    prop_assert!(edge <= (model.read + BUFFER).max(receiver.next_expected()));
                    prop_assert!(edge == model.edge || edge >= model.edge + 20 || model.finished());
                    model.edge = edge;
                    model.oldest_unacknowledged = None;
                }
                Operation::Pass(milliseconds) => {
                    model.now += milliseconds;
                    if receiver.next_wakeup() <= at(model.now) {
                        receiver.on_wakeup(at(model.now));
                        prop_assert!(receiver.ack_due());
                    }
                }
            }
            prop_assert_eq!(receiver.next_expected(), model.next_expected());
            prop_assert_eq!(receiver.received(), model.prefix());
            prop_assert_eq!(receiver.is_finished(), model.finished());
            for byte in 0..END {
                prop_assert_eq!(receiver.holds(byte), model.held[byte as usize]);
            }
            // Arrived data is acknowledged within the delay: now, or when the receiver asked to be
            // woken.
            if let Some(since) = model.oldest_unacknowledged {
                prop_assert!(receiver.ack_due() || receiver.next_wakeup() <= at(since + 40));
            }
            // A sender that sees no room for a segment learns when there is room: at once, or with
            // the delayed acknowledgment.
            let told = model.edge.saturating_sub(receiver.next_expected());
            if told < 20 && model.read + BUFFER >= model.edge + 20 {
                prop_assert!(receiver.ack_due() || receiver.next_wakeup() < Instant::FAR_FUTURE);
            }
        }
    }
}
