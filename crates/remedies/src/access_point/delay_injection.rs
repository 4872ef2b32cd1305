//! Adaptive delay injection.

use airtcp_link::agent::delay_injection::{AdaptiveDelay, Average, ClockOffset};
use airtcp_link::agent::{AgentConfig, Toward};
use airtcp_link::frame::RetryLimit;
use airtcp_units::Duration;

use crate::{Changes, Deployment, MediumChange, Parameter, Place, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "delay-injection",
    place: Place::AccessPoint,
    effect: "delays acknowledgments to a mobile sender after a delay spike, so that its timer \
             widens before the next; with unlimited retries at the mobiles",
    source: "Fotiadis & Siris, COST TD(05)049, §III-B",
    parameters: &[
        Parameter::number(
            "factor",
            "",
            1.5,
            (0.1, 1000.0),
            "delay_factor: the injected delay is the size of the spike over this (§IV-C)",
        ),
        Parameter::number(
            "c",
            "",
            4.0,
            (0.0, 1000.0),
            "how many mean deviations above the mean a spike begins (eq. 3)",
        ),
        Parameter::number(
            "a",
            "",
            0.125,
            (0.001, 1.0),
            "the gain of the mean path delay (eq. 1)",
        ),
        Parameter::number(
            "b",
            "",
            0.25,
            (0.001, 1.0),
            "the gain of its mean deviation (eq. 2)",
        ),
        Parameter::count(
            "spans",
            "",
            5,
            (1, 1_000_000),
            "subthresh is D over this times pkt_count: after this many times the distance \
             of the last two spikes the injected delay is 0 (§IV-C.2)",
        ),
        Parameter::switch(
            "subthresh",
            1,
            "1: the injected delay shrinks with each acknowledgment that is no spike; 0: it \
             stays until the next spike",
        ),
        Parameter::switch(
            "synchronised",
            0,
            "1: the sender's clock is the access point's, as the paper's simulation has it; \
             0: its offset is estimated",
        ),
        Parameter::time(
            "tick",
            Duration::from_millis(1),
            (Duration::from_micros(1), Duration::from_secs(1)),
            "a tick of the sender's timestamp clock",
        ),
        Parameter::switch(
            "spikes-in-mean",
            1,
            "1: the mean delay learns from spikes too, as printed; 0: only from the rest",
        ),
        Parameter::switch(
            "inf-retry",
            1,
            "1: mobiles retransmit without limit, as in the paper, or with downlink the access \
             point; 0: as they did",
        ),
        Parameter::switch(
            "downlink",
            0,
            "1: for downloads, an extension that the paper's §V wishes: acknowledgments to the \
             wired sender are delayed; 0: for uploads",
        ),
    ],
    deployment: Deployment::between_the_ends(
        "gateway delay-injection",
        "airtcp gateway delay-injection on the access point, or on a router before it, does it \
         (docs/guides/gateway.md).",
    ),
    decides: "which acknowledgments the access point delays",
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    let is_downlink = values.is_on("downlink");
    changes.install(AgentConfig::AdaptiveDelay(AdaptiveDelay {
        acks_toward: if is_downlink {
            Toward::Wired
        } else {
            Toward::Mobile
        },
        delay_factor: values.number("factor"),
        threshold_factor: values.number("c"),
        mean_gain: values.number("a"),
        deviation_gain: values.number("b"),
        decay_spans: values.is_on("subthresh").then(|| values.count("spans")),
        clock_offset: if values.is_on("synchronised") {
            ClockOffset::Synchronised
        } else {
            ClockOffset::default()
        },
        tick: values.time("tick"),
        average: if values.is_on("spikes-in-mean") {
            Average::AllAcknowledgments
        } else {
            Average::NoSpikes
        },
        ..AdaptiveDelay::default()
    }));
    if values.is_on("inf-retry") {
        changes.medium(if is_downlink {
            MediumChange::AccessPointAttempts(RetryLimit::Unlimited)
        } else {
            MediumChange::MobileAttempts(RetryLimit::Unlimited)
        });
    }
}
