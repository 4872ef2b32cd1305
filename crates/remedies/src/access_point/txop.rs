//! Several exchanges for one contention.

use airtcp_units::Duration;

use crate::{Changes, Deployment, MediumChange, Parameter, Place, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "txop",
    place: Place::AccessPoint,
    effect: "lets best effort keep the channel for several exchanges once it has won it",
    source: "IEEE 802.11-2020 table 9-155; WMM",
    parameters: &[
        // WMM's limit for video: 94 times 32 µs.
        Parameter::time(
            "limit",
            Duration::from_micros(3_008),
            (Duration::from_micros(32), Duration::from_micros(8_160)),
            "time for which best effort may keep the channel",
        ),
    ],
    deployment: Deployment::none(
        "By hand, on the access point: `wmm_ac_be_txop_limit` of hostapd.conf for the stations and \
         `tx_queue_data2_burst` for itself, and `hostapd_cli reload`; the old values put it back.",
    ),
    decides: "for how long a winner keeps the channel",
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    changes.medium(MediumChange::BurstTime(values.time("limit")));
}
