//! Explicit bad-state notification.

use airtcp_link::agent::AgentConfig;
use airtcp_link::agent::notification::NotificationConfig;
use airtcp_units::Duration;

use crate::{Changes, Deployment, Parameter, Place, Quantity, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "ebsn",
    place: Place::AccessPoint,
    effect: "tells the wired sender of every attempt on the wireless link that fails: it starts \
             its timer again instead of timing out",
    source: "Bakshi, Krishna, Vaidya & Pradhan, ICDCS 1997",
    parameters: &[Parameter {
        name: "interval",
        unit: "",
        default: Quantity::Time(Duration::ZERO),
        minimum: Quantity::Time(Duration::ZERO),
        maximum: Quantity::Time(Duration::from_secs(60)),
        effect: "a connection is told at most once in so long",
    }],
    deployment: Deployment::none("It needs a message that senders understand, and no sender does."),
    decides: "whether senders are told of a bad link",
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    changes
        .link
        .agents
        .push(AgentConfig::Notification(NotificationConfig {
            interval: values.time("interval"),
            ..NotificationConfig::default()
        }));
}
