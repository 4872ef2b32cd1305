//! Explicit bad-state notification.

use airtcp_link::agent::AgentConfig;
use airtcp_link::agent::notification::NotificationConfig;
use airtcp_units::Duration;

use crate::{Changes, Deployment, Parameter, Place, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "ebsn",
    place: Place::AccessPoint,
    effect: "notifies the wired sender of every failed attempt on the wireless link: it restarts \
             its timer instead of timing out",
    source: "Bakshi, Krishna, Vaidya & Pradhan, ICDCS 1997",
    parameters: &[Parameter::time(
        "interval",
        Duration::ZERO,
        (Duration::ZERO, Duration::from_secs(60)),
        "minimum time between two notifications to a connection",
    )],
    deployment: Deployment::none("It needs a message that senders understand, and no sender does."),
    decides: "whether senders are told of a bad link",
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    changes.install(AgentConfig::Notification(NotificationConfig {
        interval: values.time("interval"),
        ..NotificationConfig::default()
    }));
}
