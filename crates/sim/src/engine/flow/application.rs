//! The application of a flow.

use airtcp_link::Stream;
use airtcp_network::Alarm;
use airtcp_scenario::Traffic;
use airtcp_units::Instant;

use crate::traffic::Session;

/// An application at both ends of a flow.
#[derive(Clone, Debug)]
pub(in super::super) struct Application {
    pub session: Session,
    pub alarm: Alarm,
}

impl Application {
    /// An application that opens its connection at `start`.
    pub(super) fn new(traffic: &Traffic, start: Instant, stream: Stream) -> Self {
        Self {
            session: Session::new(traffic, start, stream),
            alarm: Alarm::default(),
        }
    }
}
