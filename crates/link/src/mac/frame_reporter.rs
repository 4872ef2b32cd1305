//! Reports the frames of one attempt to an observer.

use airtcp_units::Instant;

use crate::frame::{ChannelObserver, Fate, FrameKind, Occupancy};
use crate::phy::ControlFrame;

/// First and last bit of a frame.
pub(super) type Span = (Instant, Instant);

/// The observer of a channel, and the attempt that the frames belong to.
pub(super) struct FrameReporter<'a, O> {
    pub observer: &'a mut O,
    /// The flow of the packet that the attempt is about.
    pub flow: u32,
    /// Its number, from 1.
    pub attempt: u32,
}

impl<O: ChannelObserver> FrameReporter<'_, O> {
    /// A station sends a frame with `mpdus` MPDUs, some of them damaged.
    pub(super) fn aggregate(
        &mut self,
        station: u32,
        frame: FrameKind,
        (start, end): Span,
        fate: Fate,
        (mpdus, damaged): (u32, u32),
    ) {
        self.observer.occupied(&Occupancy {
            station,
            start,
            end,
            frame,
            flow: self.flow,
            attempt: self.attempt,
            fate,
            mpdus,
            damaged,
        });
    }

    /// A station sends a frame without a collision.
    pub(super) fn frame(&mut self, station: u32, frame: FrameKind, span: Span, is_damaged: bool) {
        let fate = if is_damaged {
            Fate::Damaged
        } else {
            Fate::Received
        };
        self.aggregate(station, frame, span, fate, (1, u32::from(is_damaged)));
    }

    /// A station sends a control frame.
    pub(super) fn control(
        &mut self,
        station: u32,
        frame: ControlFrame,
        span: Span,
        is_damaged: bool,
    ) {
        let kind = match frame {
            ControlFrame::Ack => FrameKind::Ack,
            ControlFrame::Rts => FrameKind::Rts,
            ControlFrame::Cts => FrameKind::Cts,
            ControlFrame::BlockAck { .. } => FrameKind::BlockAck,
            ControlFrame::BlockAckRequest => FrameKind::BlockAckRequest,
        };
        self.frame(station, kind, span, is_damaged);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Seen(Vec<Occupancy>);

    impl ChannelObserver for Seen {
        fn occupied(&mut self, occupancy: &Occupancy) {
            self.0.push(*occupancy);
        }
    }

    /// A damaged frame does not arrive; an aggregate may arrive in part.
    #[test]
    fn frames_are_told_with_what_does_not_arrive() {
        let mut seen = Seen::default();
        let mut told = FrameReporter {
            observer: &mut seen,
            flow: 5,
            attempt: 2,
        };
        let span = (Instant::from_nanos(10), Instant::from_nanos(30));
        told.frame(1, FrameKind::Data, span, true);
        told.control(0, ControlFrame::Ack, span, false);
        told.aggregate(1, FrameKind::Data, span, Fate::Received, (8, 3));
        let frames = seen.0.iter();
        let told: Vec<_> = frames
            .map(|frame| (frame.station, frame.fate, frame.mpdus, frame.damaged))
            .collect();
        let expected = [
            (1, Fate::Damaged, 1, 1),
            (0, Fate::Received, 1, 0),
            (1, Fate::Received, 8, 3),
        ];
        assert_eq!(told, expected);
        let is_ours = |frame: &Occupancy| {
            (frame.flow, frame.attempt, frame.start, frame.end) == (5, 2, span.0, span.1)
        };
        assert!(seen.0.iter().all(is_ours));
    }
}
