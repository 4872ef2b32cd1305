//! Senders that have no more in flight than their receiver forecasts to be delivered soon.

use airtcp_tcp::config::{CongestionControl, Forecasting, SlowStart, SproutConfig};

use crate::choices::WINDOW;
use crate::{Changes, Parameter, Place, Remedy, Values};

const NO_WAY: &str = "No way: no kernel has it, nor the option that carries the forecast; the \
                      authors' program (github.com/keithw/sprout) speaks another protocol, over \
                      UDP, and tunnels others' packets.";

const TICKS: Parameter = Parameter::count(
    "ticks",
    "",
    5,
    (1, 7),
    "ticks of 20 ms, after the present one, within which data in flight is to be delivered",
);

pub(crate) const REMEDY: Remedy = Remedy::new("sprout", Place::Sender)
    .effect(
        "bounds data in flight by the receiver's forecast: the amount that it is 95 % sure the \
         path will deliver within 100 ms, up to 1000 segments a second; short queues where the \
         rate varies, and no reduction for losses",
    )
    .from(
        "Winstein, Sivaraman & Balakrishnan, Stochastic forecasts achieve high throughput and low \
         delay over cellular networks, NSDI 2013, and its authors' code",
    )
    .decides(WINDOW)
    .takes(&[
        Parameter::number(
            "noise",
            "segments/s",
            200.0,
            (1.0, 1000.0),
            "standard deviation of the rate's change in a second",
        ),
        Parameter::number(
            "escape",
            "1/s",
            1.0,
            (0.01, 50.0),
            "how often an outage ends",
        ),
        Parameter::number(
            "risk",
            "",
            0.05,
            (0.001, 0.95),
            "probability with which less than forecast is delivered",
        ),
        TICKS,
    ])
    .sets(|values, to| {
        let inference = Forecasting::Inference {
            noise: values.number("noise"),
            escape: values.number("escape"),
            risk: values.number("risk"),
        };
        set(inference, values, to);
    })
    .no_way(NO_WAY);

pub(crate) const MOVING_AVERAGE: Remedy = Remedy::new("sprout-ewma", Place::Sender)
    .effect(
        "bounds data in flight by the amount that the path will deliver within 100 ms if its rate \
         stays at the receiver's moving average: more throughput and longer queues than sprout",
    )
    .from(
        "Winstein, Sivaraman & Balakrishnan, NSDI 2013, §5.3 (Sprout-EWMA), and its authors' code",
    )
    .decides(WINDOW)
    .takes(&[TICKS])
    .sets(|values, to| set(Forecasting::MovingAverage, values, to))
    .no_way(NO_WAY);

fn set(forecasting: Forecasting, values: &Values<'_>, to: &mut Changes<'_>) {
    to.tcp.congestion = CongestionControl::Sprout;
    to.tcp.slow_start = SlowStart::Standard;
    to.tcp.delayed_ack = to.tcp.delayed_ack.of_each_segment();
    to.tcp.sprout = SproutConfig {
        forecasting,
        ticks: values.count("ticks"),
    };
}
