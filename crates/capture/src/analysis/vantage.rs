//! Detects the vantage point of a capture from its delays.

use airtcp_packet::{Flags, SequenceNumber};
use airtcp_units::{Duration, Instant};

use crate::flow::Flow;
use crate::packet::{Packet, Way};

/// Minimum share of the round trip at one side, for a capture at the host on the other side.
const NEARLY_ALL: f64 = 0.9;
/// Minimum round trip for delays to show the place; below it is one machine or one switch.
const LOCAL: Duration = Duration::from_micros(500);
/// Maximum number of samples for a quantile.
const ENOUGH: usize = 2000;

/// Vantage point of a capture along the path of the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// At the sender of the data.
    Sender,
    /// At the receiver of the data.
    Receiver,
    /// In between.
    Middle,
}

impl Place {
    /// Its name in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sender => "sender",
            Self::Receiver => "receiver",
            Self::Middle => "middle",
        }
    }
}

/// The vantage point and its evidence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Vantage {
    /// The place.
    pub place: Place,
    /// From data to its acknowledgment: the round trip towards the receiver, as the 20th percentile
    /// of the samples.
    pub to_receiver: Option<Duration>,
    /// From an acknowledgment to the data that it released: the round trip towards the sender,
    /// likewise.
    pub to_sender: Option<Duration>,
    /// The minimum of these: the round trip towards the sender without a queue.
    pub least_to_sender: Option<Duration>,
    /// Whether both delays are known, and their sum is long enough to decide.
    pub is_certain: bool,
}

/// Finds the vantage point of a flow with data in direction `way`.
pub fn locate(packets: impl Iterator<Item = Packet>, flow: &Flow, way: Way) -> Vantage {
    let mut delays = Delays::default();
    for packet in packets {
        if delays.are_enough() {
            break;
        }
        if packet.way == way {
            delays.data(&packet);
        } else {
            delays.ack(&packet);
        }
    }
    let handshake = match way {
        Way::FromClient => delays.handshake,
        Way::FromServer => flow.handshake(),
    };
    let to_receiver = fifth(&mut delays.to_receiver);
    let to_sender = fifth(&mut delays.to_sender).or(handshake);
    let least_to_sender = delays.to_sender.iter().min().copied().or(handshake);
    let (mut place, is_certain) = place(to_receiver, to_sender);
    // Data never leaves before the acknowledgment that it echoes arrives, however long it mostly
    // waits for its application, or for room in its buffer.
    let shortest = delays.to_receiver.iter().min().copied();
    if place == Place::Middle && self::place(shortest, least_to_sender).0 == Place::Sender {
        place = Place::Sender;
    }
    Vantage {
        place,
        to_receiver,
        to_sender,
        least_to_sender,
        is_certain,
    }
}

fn place(to_receiver: Option<Duration>, to_sender: Option<Duration>) -> (Place, bool) {
    match (to_receiver, to_sender) {
        (Some(to_receiver), Some(to_sender)) => {
            let whole = to_receiver + to_sender;
            let share = to_receiver.as_secs_f64() / whole.as_secs_f64().max(1e-9);
            let place = if share >= NEARLY_ALL {
                Place::Sender
            } else if share <= 1.0 - NEARLY_ALL {
                Place::Receiver
            } else {
                Place::Middle
            };
            // Within one machine either end may be nearer by chance.
            if whole < LOCAL {
                (Place::Sender, false)
            } else {
                (place, true)
            }
        }
        // The end that answers without delay is the captured host.
        (Some(to_receiver), None) if to_receiver < LOCAL => (Place::Receiver, false),
        _ => (Place::Sender, false),
    }
}

/// Delays, updated packet by packet. One packet of each kind at a time waits for its answer.
#[derive(Debug, Default)]
struct Delays {
    to_receiver: Vec<Duration>,
    to_sender: Vec<Duration>,
    /// New data waiting for its acknowledgment: one past its last byte, and its time.
    sent: Option<(SequenceNumber, Instant)>,
    /// One past the highest byte sent.
    highest: Option<SequenceNumber>,
    /// An ACK waiting for its echo: TSval, and the time of the first packet with it.
    value: Option<(SequenceNumber, Instant)>,
    last_value: Option<u32>,
    /// The receiver's SYN, until the sender's next packet.
    syn: Option<Instant>,
    /// From that SYN to that packet.
    handshake: Option<Duration>,
}

impl Delays {
    fn are_enough(&self) -> bool {
        self.to_receiver.len() >= ENOUGH && self.to_sender.len() >= ENOUGH
    }

    fn data(&mut self, packet: &Packet) {
        let segment = &packet.segment;
        if let Some(syn) = self.syn.take() {
            self.handshake.get_or_insert(packet.time - syn);
        }
        // TSvals wrap like sequence numbers (RFC 7323 §5.4).
        if let (Some((value, time)), Some(both)) = (self.value, segment.timestamps)
            && segment.payload_bytes > 0
            && !SequenceNumber(both.echo).before(value)
        {
            self.to_sender.push(packet.time - time);
            self.value = None;
        }
        let end = segment.sequence + segment.sequence_length();
        if self.highest.is_none_or(|highest| end.after(highest)) {
            self.highest = Some(end);
            self.sent.get_or_insert((end, packet.time));
        }
    }

    fn ack(&mut self, packet: &Packet) {
        let segment = &packet.segment;
        if segment.flags.contains(Flags::SYN) {
            self.syn = Some(packet.time);
        }
        if let Some((end, time)) = self.sent
            && segment.flags.contains(Flags::ACK)
            && !segment.acknowledgment.before(end)
        {
            self.to_receiver.push(packet.time - time);
            self.sent = None;
        }
        // Only the first packet with a value dates it.
        if let Some(both) = segment.timestamps
            && self.last_value != Some(both.value)
        {
            self.last_value = Some(both.value);
            self.value
                .get_or_insert((SequenceNumber(both.value), packet.time));
        }
    }
}

fn fifth(delays: &mut [Duration]) -> Option<Duration> {
    let at = delays.len() / 5;
    let (_, delay, _) = (at < delays.len()).then(|| delays.select_nth_unstable(at))?;
    Some(*delay)
}
