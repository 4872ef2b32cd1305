//! Applications at both ends of a flow: their input, their writes, and their timers.

use airtcp_units::Instant;

use crate::engine::flow::Flow;
use crate::engine::watch::Watch;
use crate::engine::{Endpoints, Net, Turn};
use crate::traffic::{Action, End};

/// The ends of a flow at which data was written.
#[derive(Clone, Copy, Default)]
pub(super) struct WrittenEnds {
    at_source: bool,
    at_sink: bool,
}

impl<W: Watch> Endpoints<'_, W> {
    /// Passes on that an end of a flow has received this many bytes.
    #[inline(never)]
    pub(in super::super) fn on_application_data(
        &mut self,
        network: &mut Net,
        index: u32,
        end: End,
        bytes: u64,
    ) {
        let flow = &mut self.flows[index as usize];
        if bytes == 0 {
            return;
        }
        let Some(application) = &mut flow.application else {
            return;
        };
        application.session.on_received(network.now(), end, bytes);
        let wanted = application.session.next_wakeup();
        network.arm(&mut application.alarm, wanted, Turn::Application(index));
        let written = write(flow, network.now());
        self.drain_written(network, index, written);
    }

    pub(in super::super) fn on_application_timer(&mut self, network: &mut Net, index: u32) {
        let flow = &mut self.flows[index as usize];
        let Some(application) = &mut flow.application else {
            return;
        };
        if !network.rings(application.alarm) {
            return;
        }
        application.session.on_wakeup(network.now());
        let wanted = application.session.next_wakeup();
        network.rearm(&mut application.alarm, wanted);
        let written = write(flow, network.now());
        self.drain_written(network, index, written);
    }

    fn drain_written(&mut self, network: &mut Net, index: u32, written: WrittenEnds) {
        if written.at_source {
            self.drain_client(network, index);
        }
        if written.at_sink {
            self.drain_server(network, index);
        }
    }
}

/// Performs the pending writes of a flow's application.
pub(super) fn write(flow: &mut Flow, now: Instant) -> WrittenEnds {
    let mut written = WrittenEnds::default();
    let Some(application) = &mut flow.application else {
        return written;
    };
    while let Some(action) = application.session.poll() {
        match action {
            Action::Write {
                end: End::Source,
                bytes,
            } => {
                flow.client.connection.write(bytes);
                let end = flow.client.connection.sender().offered();
                flow.latency.on_written(now, end);
                written.at_source = true;
            }
            Action::Write {
                end: End::Sink,
                bytes,
            } => {
                flow.server.connection.write(bytes);
                written.at_sink = true;
            }
            Action::Close => {
                flow.client.connection.close();
                written.at_source = true;
            }
        }
    }
    written
}
