//! A look at a flow's link from outside: queues and signal.

use super::hop::{AirHop, Hop};
use super::{ACCESS_POINT, Network};

/// How a flow's link stands.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AirView {
    /// Packets that wait for the first link on the way of its data that can hold packets back, of
    /// all flows: for the medium, or for the first pipe where there is none.
    pub queued: u64,
    /// Packets there that failed and wait for another turn, by how often they were sent again in
    /// vain.
    pub retries: [u64; 3],
    /// Signal-to-noise ratio of its mobile.
    pub snr_db: Option<f64>,
}

impl Network {
    /// How the link of `flow` stands now.
    pub fn air(&mut self, flow: u32) -> AirView {
        let now = self.now;
        let Some(state) = self.flows.get(flow as usize) else {
            return AirView::default();
        };
        let mut on_air = self
            .routes
            .from(state.client.route)
            .filter_map(|hop| match hop {
                Hop::Air(hop) => Some(hop),
                _ => None,
            });
        if let Some(hop) = on_air.next() {
            let medium = &self.media[usize::from(hop.medium)];
            return AirView {
                queued: medium.queued_packets(hop.from, mobile(hop)) as u64,
                retries: medium.retries(hop.from).map(|packets| packets as u64),
                snr_db: medium.snr_db(mobile(hop), now),
            };
        }
        // The link's own pipe is the first that is laid.
        let queued = self
            .pipes
            .first_mut()
            .map_or(0, |node| node.pipe.queued_packets(now));
        AirView {
            queued: queued as u64,
            ..AirView::default()
        }
    }
}

/// The end of a way that is not the access point.
const fn mobile(hop: AirHop) -> u16 {
    if hop.from == ACCESS_POINT {
        hop.to
    } else {
        hop.from
    }
}
