//! Connections that begin with a request, or with Fast Open.

use airtcp_network::Host;
use airtcp_packet::{Flags, Segment};

use super::application::write;
use crate::engine::watch::Watch;
use crate::engine::{Endpoints, Net};

impl<W: Watch> Endpoints<'_, W> {
    /// Prepares the SYN of a connection with an [`Opening`](crate::engine::flow::Opening), when its
    /// opener is woken first.
    #[cold]
    pub(super) fn open(&mut self, network: &Net, index: u32) {
        let now = network.now();
        let flow = &mut self.flows[index as usize];
        match &mut flow.opening {
            Some(opening) if !opening.has_begun => opening.has_begun = true,
            _ => return,
        }
        // Data that an application writes as it opens the connection may leave in the SYN.
        if let Some(application) = &mut flow.application {
            application.session.on_wakeup(now);
            write(flow, now);
        }
        let Some((opening, cookies)) = flow.opening.as_deref().zip(self.cookies.as_deref()) else {
            return;
        };
        if let Some([of_opener, _]) = &opening.tuples {
            let opener = match opening.by {
                Host::Server => &mut flow.server.connection,
                _ => &mut flow.client.connection,
            };
            cookies.open(now, of_opener, opening.payload, opener);
        }
    }

    /// Handles a SYN or SYN-ACK that is about to reach `host`, for Fast Open.
    #[cold]
    pub(super) fn on_syn(&mut self, index: u32, host: Host, segment: &Segment) {
        let flow = &mut self.flows[index as usize];
        let Some((opening, cookies)) = flow.opening.as_deref().zip(self.cookies.as_deref_mut())
        else {
            return;
        };
        let Some([of_opener, of_other]) = &opening.tuples else {
            return;
        };
        let connection = match host {
            Host::Server => &mut flow.server.connection,
            _ => &mut flow.client.connection,
        };
        if opening.by != host {
            cookies.answer(of_other, segment, connection);
        } else if segment.flags.contains(Flags::ACK) {
            cookies.learn(of_opener, segment, connection);
        }
    }

    /// Reads what the client has received of its server's request; answers once it is whole.
    #[cold]
    pub(super) fn on_request(&mut self, index: u32) {
        let flow = &mut self.flows[index as usize];
        let Some(opening) = flow.opening.as_deref_mut() else {
            return;
        };
        if opening.request_left == 0 {
            return;
        }
        let client = &mut flow.client.connection;
        let received = client.read(u64::MAX);
        opening.request_left = opening.request_left.saturating_sub(received);
        if opening.request_left > 0 {
            return;
        }
        match opening.bytes {
            Some(bytes) => {
                client.write(bytes);
                client.close();
            }
            None => client.write(u64::MAX),
        }
    }
}
