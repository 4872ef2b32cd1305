//! Duplicates that the link explains mean nothing.

use crate::{Changes, Place, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "wsc-dynamic-dupack",
    place: Place::Sender,
    effect: "waits with fast retransmit while the link still retransmits an earlier segment; \
             for senders behind the wireless link",
    source: "Srinivasan, Efficient TCP enhancements for hybrid networks (WSC-TCP), §3.2",
    parameters: &[],
    deployment: "None: no Linux driver tells TCP of each frame. A gateway or a modem with its \
                 own stack can.",
    decides: "which duplicates mean a loss",
    apply,
};

fn apply(_: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.link_feedback.dynamic_threshold = true;
}
