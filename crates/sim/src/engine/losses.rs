//! Lost packets: notifications and counters.

use airtcp_link::Admission;
use airtcp_tcp::loss_differentiation::Cause;

use super::endpoints::offset_near;
use super::insight::sequence_of;
use super::watch::{Direction, FlowEvent, Watch};
use super::{Endpoints, Host, Net, Packet};

impl<W: Watch> Endpoints<'_, W> {
    /// Records that a packet was dropped or lost: it will not arrive.
    pub(super) fn on_loss(&mut self, network: &Net, packet: &Packet, admission: Admission) {
        let Some(segment) = packet.segment() else {
            return self.on_datagram_loss(network, packet);
        };
        let direction = match network.destination(packet) {
            Host::Client => Direction::Acknowledgments,
            _ => Direction::Data,
        };
        // After a proxy a loss belongs to the proxy's connection, not to the sender's.
        let is_senders = !self.is_behind_proxy(network, packet);
        let flow = &mut self.flows[packet.flow as usize];
        let una = flow.client().sender().una();
        let offset = match direction {
            Direction::Data => {
                let sequence = segment.sequence;
                if is_senders {
                    let una = sequence_of(una, flow.client_iss);
                    flow.truth.on_loss(sequence, packet.index, una);
                    if flow.coins.is_some() {
                        let cause = match admission {
                            Admission::Overflow => Cause::Congestion,
                            _ => Cause::Radio,
                        };
                        flow.truth.on_cause(sequence, cause, una);
                    }
                }
                match admission {
                    Admission::Overflow => count(&mut flow.tally.dropped_by_queue),
                    _ => count(&mut flow.tally.lost_by_link),
                }
                offset_near(sequence, flow.client_iss, una)
            }
            Direction::Acknowledgments => {
                count(&mut flow.tally.acknowledgments_lost);
                offset_near(segment.acknowledgment, flow.client_iss, una)
            }
        };
        let event = match admission {
            Admission::Overflow => FlowEvent::QueueDrop { direction, offset },
            _ => FlowEvent::LinkLoss {
                direction,
                offset,
                packet: packet.index,
            },
        };
        self.watch.event(network.now(), packet.flow, event);
    }
}

const fn count(events: &mut u32) {
    *events = events.saturating_add(1);
}
