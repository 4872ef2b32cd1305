//! Applications at both ends of a flow: what they are told, what they write, and their timers.

use airtcp_link::Stream;
use airtcp_units::Instant;

use super::{Network, Turn};
use crate::engine::watch::Watch;
use crate::traffic::{Action, End, Session, Traffic};

/// An application in the network.
#[derive(Clone, Debug)]
pub(in crate::engine) struct Application {
    pub(in crate::engine) session: Session,
    /// Time of the pending event; [`Instant::FAR_FUTURE`] when there is none.
    timer: Instant,
}

impl Application {
    /// An application that opens its connection at `start`, where its first event is due.
    pub(in crate::engine) fn new(traffic: &Traffic, start: Instant, stream: Stream) -> Self {
        Self {
            session: Session::new(traffic, start, stream),
            timer: start,
        }
    }
}

impl Network {
    /// An end of a flow has received so many bytes.
    #[inline(never)]
    pub(super) fn on_application_data(
        &mut self,
        index: u32,
        end: End,
        bytes: u64,
        watch: &mut impl Watch,
    ) {
        let now = self.now;
        if bytes > 0
            && let Some(application) = &mut self.flows[index as usize].application
        {
            application.session.on_received(now, end, bytes);
            self.drain_application(index, watch);
        }
    }

    pub(super) fn on_application_timer(&mut self, index: u32, watch: &mut impl Watch) {
        let now = self.now;
        self.queue.remove_first();
        let Some(application) = &mut self.flows[index as usize].application else {
            return;
        };
        if application.timer != now {
            // An earlier time was announced since.
            return;
        }
        application.timer = Instant::FAR_FUTURE;
        application.session.on_wakeup(now);
        self.drain_application(index, watch);
    }

    /// Writes what an application has to write, and looks after its timer.
    fn drain_application(&mut self, index: u32, watch: &mut impl Watch) {
        let now = self.now;
        let flow = &mut self.flows[index as usize];
        let Some(application) = &mut flow.application else {
            return;
        };
        let (mut at_source, mut at_sink) = (false, false);
        while let Some(action) = application.session.poll() {
            match action {
                Action::Write {
                    end: End::Source,
                    bytes,
                } => {
                    flow.client.connection.write(bytes);
                    at_source = true;
                }
                Action::Write {
                    end: End::Sink,
                    bytes,
                } => {
                    flow.server.connection.write(bytes);
                    at_sink = true;
                }
                Action::Close => {
                    flow.client.connection.close();
                    at_source = true;
                }
            }
        }
        let wanted = application.session.next_wakeup();
        if wanted < application.timer {
            application.timer = wanted.max(now);
            self.queue
                .schedule(application.timer, Turn::Application(index));
        }
        if at_source {
            self.drain_client(index, watch);
        }
        if at_sink {
            self.drain_server(index, watch);
        }
    }
}
