//! Duplicates that the link explains mean nothing.

use airtcp_tcp::config::{DynamicThreshold, GapCount, ThresholdCap};

use crate::{Changes, Deployment, Parameter, Place, Quantity, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "wsc-dynamic-dupack",
    place: Place::Sender,
    effect: "defers fast retransmit while the link is still retransmitting an earlier segment; for \
             senders on the wireless link",
    source: "Srinivasan, Efficient TCP enhancements for hybrid networks (WSC-TCP), §3.2",
    parameters: &[AS_PRINTED, CAPPED, BELOW_WINDOW],
    deployment: Deployment::none(
        "No Linux driver reports each frame to TCP; a gateway or modem with its own stack can.",
    ),
    decides: "which duplicates mean a loss",
    apply,
};

pub(super) const AS_PRINTED: Parameter = Parameter {
    name: "as-printed",
    unit: "",
    default: Quantity::Count(0),
    minimum: Quantity::Count(0),
    maximum: Quantity::Count(1),
    effect: "0: the threshold grows by all segments above the first that the link has yet to \
             deliver; 1: by out-of-order deliveries, and by those segments when the first gap \
             closes, as the pseudocode is printed",
};

pub(super) const CAPPED: Parameter = Parameter {
    name: "capped",
    unit: "",
    default: Quantity::Count(1),
    minimum: Quantity::Count(0),
    maximum: Quantity::Count(1),
    effect: "1: the threshold stays below the congestion window; 0: it has no bound, as in the \
             thesis",
};

pub(super) const BELOW_WINDOW: Parameter = Parameter {
    name: "below-window",
    unit: "segments",
    default: Quantity::Count(1),
    minimum: Quantity::Count(0),
    maximum: Quantity::Count(1000),
    effect: "by how much it stays below the window, with capped = 1",
};

/// The parameters above, read.
pub(super) fn threshold(values: &Values<'_>) -> DynamicThreshold {
    DynamicThreshold {
        count: match values.count("as-printed") {
            0 => GapCount::AboveFirstGap,
            _ => GapCount::AsPrinted,
        },
        cap: match values.count("capped") {
            0 => ThresholdCap::None,
            _ => ThresholdCap::BelowWindow(values.count("below-window")),
        },
    }
}

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.link_feedback.dynamic_threshold = Some(threshold(values));
}
