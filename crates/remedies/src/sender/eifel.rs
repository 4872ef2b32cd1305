//! A timestamp shows that a timeout was spurious.

use airtcp_tcp::config::{SpuriousDetection, SpuriousResponse};

use crate::deployment::{At, Step, Way};
use crate::{Changes, Deployment, Place, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "eifel",
    place: Place::Sender,
    effect: "detects a spurious timeout by the echoed timestamp and restores the windows",
    source: "RFC 3522 (detection), RFC 4015 (response)",
    parameters: &[],
    deployment: Deployment::by(&[Way::new(
        At::BothEnds,
        &[Step::fixed_sysctl("net.ipv4.tcp_timestamps", "1")],
    )])
    .noting(
        "This is the default. The response is Linux's own, which restores the windows \
         (tcp_packet_delayed).",
    ),
    decides: "what is done about needless recoveries",
    apply,
};

fn apply(_: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.timestamps = true;
    changes.tcp.spurious_detection = SpuriousDetection {
        eifel: true,
        ..SpuriousDetection::default()
    };
    changes.tcp.spurious_response = SpuriousResponse::Eifel;
}
