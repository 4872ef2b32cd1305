//! Shorter segments by agreement.

use crate::deployment::{At, Setting, Step, Way};
use crate::{Changes, Deployment, Parameter, Place, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "mss-clamp",
    place: Place::Receiver,
    effect: "announces a smaller segment size, so that no packet exceeds the path MTU",
    source: "RFC 9293 §3.7.1; RFC 2923 §2.1",
    parameters: &[Parameter::count(
        "bytes",
        "bytes",
        1_360,
        (536, 8_960),
        "the announced segment size: the longest packet that arrives less 40 bytes of \
         headers, 60 with IPv6",
    )],
    deployment: Deployment::by(&[Way::new(
        At::Receiver,
        &[Step::route("advmss", Setting::Parameter("bytes"))],
    )])
    .noting(
        "A router on the way does it for both ends: `nft add rule inet filter forward tcp flags \
         syn tcp option maxseg size set rt mtu`, undone by deleting the rule.",
    ),
    decides: "how long segments may be",
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    // The option counts 12 bytes of timestamps that a segment's data does not (RFC 6691 §2).
    let timestamps = if changes.tcp.timestamps { 12 } else { 0 };
    changes.tcp.mss = changes.tcp.mss.min(values.count("bytes") - timestamps);
}
