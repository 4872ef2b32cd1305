//! Packets that the gateway does not queue, inferred from acknowledgments.
//!
//! Delay injection needs to know how much data a mobile has sent and was sent, and queues neither:
//! data must not wait for a program. But each pure acknowledgment towards the mobile gives both.
//! Its acknowledgment number follows the data that the mobile has sent; its sequence number follows
//! the data that it was sent. The difference of two is reported to the agent as data.

use airtcp_packet::{Flags, Segment, SequenceNumber};
use airtcp_units::{Duration, Instant};

/// A larger jump of either number means another connection with the same addresses: no window is
/// that large (RFC 7323 §2.3: below 2^30).
const ANOTHER: u32 = 1 << 30;
/// After this long without an acknowledgment it may be another connection, or the same with its
/// state unknown.
const FORGOTTEN: Duration = Duration::from_secs(600);

/// The last acknowledgment of a connection towards its mobile.
#[derive(Clone, Copy, Debug, Default)]
pub struct VirtualDelivery {
    last: Option<(Instant, SequenceNumber, SequenceNumber)>,
}

/// The events between two acknowledgments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Between {
    /// Whether it is a different connection.
    pub is_another: bool,
    /// Data that the mobile has sent: empty segments carry no information.
    pub up: Option<Segment>,
    /// Data that the mobile was sent.
    pub down: Option<Segment>,
}

impl VirtualDelivery {
    /// Infers the events before this acknowledgment, which goes to the mobile at `now`.
    pub fn take(&mut self, now: Instant, segment: &Segment) -> Between {
        let (sent, received) = (segment.sequence, segment.acknowledgment);
        let Some((then, down, up)) = self.last else {
            self.last = Some((now, sent, received));
            return Between::default();
        };
        let (further_down, further_up) = (sent.distance(down), received.distance(up));
        let is_far = |distance: i32| distance.unsigned_abs() > ANOTHER;
        if now - then > FORGOTTEN || is_far(further_down) || is_far(further_up) {
            self.last = Some((now, sent, received));
            return Between {
                is_another: true,
                ..Between::default()
            };
        }
        // An old acknowledgment that arrives late adds nothing, and reverts nothing.
        let latest = |was, is, distance: i32| if distance > 0 { is } else { was };
        self.last = Some((
            now,
            latest(down, sent, further_down),
            latest(up, received, further_up),
        ));
        Between {
            is_another: false,
            up: data(up, further_up),
            down: data(down, further_down),
        }
    }
}

/// A segment with data from `start` on. It has no ACK: its acknowledgment number is unknown.
fn data(start: SequenceNumber, bytes: i32) -> Option<Segment> {
    (bytes > 0).then(|| Segment {
        sequence: start,
        payload_bytes: bytes.unsigned_abs(),
        flags: Flags::PSH,
        ..Segment::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(sequence: u32, acknowledgment: u32) -> Segment {
        Segment {
            sequence: SequenceNumber(sequence),
            acknowledgment: SequenceNumber(acknowledgment),
            flags: Flags::ACK,
            ..Segment::default()
        }
    }

    fn bytes(segment: Option<Segment>) -> u32 {
        segment.map_or(0, |segment| segment.payload_bytes)
    }

    #[test]
    fn both_numbers_tell_of_data_across_the_wrap() {
        let mut delivery = VirtualDelivery::default();
        let now = Instant::ZERO;
        assert_eq!(
            delivery.take(now, &ack(9, u32::MAX - 99)),
            Between::default()
        );
        let between = delivery.take(now, &ack(19, 900));
        assert_eq!((bytes(between.up), bytes(between.down)), (1000, 10));
        // One that was overtaken, and then one that is newer by 100 than the latest.
        assert_eq!(delivery.take(now, &ack(19, 400)), Between::default());
        assert_eq!(bytes(delivery.take(now, &ack(19, 1000)).up), 100);
    }

    #[test]
    fn a_jump_or_a_long_silence_is_another_connection() {
        let mut delivery = VirtualDelivery::default();
        let now = Instant::ZERO;
        delivery.take(now, &ack(0, 0));
        assert!(delivery.take(now, &ack(0, 1 << 31)).is_another);
        assert!(!delivery.take(now, &ack(0, (1 << 31) + 5)).is_another);
        let later = now + Duration::from_secs(601);
        assert!(delivery.take(later, &ack(0, (1 << 31) + 5)).is_another);
    }
}
