//! Sprout at the sender (Winstein, Sivaraman & Balakrishnan, "Stochastic forecasts achieve high
//! throughput and low delay over cellular networks", NSDI 2013, §3.5): no more is in flight than
//! the receiver forecasts to be delivered within five ticks, 100 ms. Losses do not count.
//!
//! The five ticks begin at the end of the present one, as in the authors' code (`sproutconn.cc`,
//! `window_size`). Counted from its beginning, the cautious forecast of a segment a tick is a
//! segment: a window that has once fallen to it stays there.
//!
//! Each acknowledgment brings the forecast of the tick that it is sent in, and acknowledges or
//! reports lost the data that the paper's sender subtracts as the queue's content. That sender adds
//! to its window when no feedback comes for a tick; TCP, clocked by acknowledgments, does not. A
//! segment is always allowed, in place of the paper's heartbeats.

use airtcp_packet::Forecast;
use airtcp_units::{BitRate, Instant};

use super::Ack;
use super::model::{Demands, Model};
use super::rule::Start;
use super::windows::Windows;
use crate::config::Config;

/// No pace: as many segments as may leave leave together, so that their arrivals show the path's
/// rate.
const NO_PACE: BitRate = BitRate::from_bps(1_000_000_000_000);

/// The last forecast.
#[derive(Clone, Debug)]
pub struct Sprout {
    /// Ticks that it looks ahead.
    ticks: usize,
    /// `None` from a receiver without forecasts: then the first window stays.
    forecast: Option<Forecast>,
}

impl Start for Sprout {
    fn start(config: &Config, _windows: &Windows) -> Self {
        Self {
            ticks: config.sprout.ticks as usize,
            forecast: None,
        }
    }
}

impl Model for Sprout {
    fn observe(&mut self, _ack: &Ack, windows: &mut Windows) {
        if let Some(forecast) = self.forecast {
            let segments = forecast.within(1 + self.ticks) - forecast.within(1);
            windows.set(u64::from(segments) * windows.mss);
        }
    }

    fn on_forecast(&mut self, forecast: Forecast) {
        self.forecast = Some(forecast);
    }

    fn on_loss(&mut self, _windows: &Windows) {}

    fn on_timeout(&mut self) {}

    fn on_idle_over(&mut self, _now: Instant) {}

    fn demands(&self) -> Demands {
        Demands {
            pacing_rate: NO_PACE,
            least_burst: 1,
            is_probing_rtt: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use airtcp_units::Duration;

    use super::*;
    use crate::config::SproutConfig;
    use crate::congestion::Repairing;

    const MSS: u64 = 1000;

    fn acknowledged(in_flight: u64) -> Ack {
        let rtt = Duration::from_millis(40);
        Ack {
            now: Instant::ZERO + rtt,
            delivered: MSS,
            marked: 0,
            lost: 0,
            rtt: Some(rtt),
            minimum_rtt: rtt,
            srtt: rtt,
            una: 0,
            nxt: 1,
            in_flight_before: in_flight + MSS,
            held_back: 0,
            in_flight,
            next_departure: Instant::ZERO + rtt,
            delivered_in_all: 0,
            lost_in_all: 0,
            rate: None,
            repairing: Repairing::Nothing,
        }
    }

    /// §3.5: as much is safe in flight as drains within 100 ms, or as many ticks as are set; never
    /// less than a segment.
    #[test]
    fn the_window_is_what_drains_in_five_ticks_after_this_one() {
        let mut windows = Windows {
            mss: MSS,
            cwnd: 10 * MSS,
            ssthresh: u64::MAX,
            max: u64::MAX,
        };
        let mut config = Config::default();
        let mut sprout = Sprout::start(&config, &windows);
        sprout.observe(&acknowledged(9 * MSS), &mut windows);
        assert_eq!(windows.cwnd, 10 * MSS, "no forecast");
        sprout.on_forecast(Forecast::of_totals([1, 4, 8, 12, 17, 22, 28, 34]));
        sprout.observe(&acknowledged(9 * MSS), &mut windows);
        assert_eq!(windows.cwnd, (22 - 1) * MSS);
        config.sprout = SproutConfig {
            ticks: 7,
            ..config.sprout
        };
        let mut farther = Sprout::start(&config, &windows);
        farther.on_forecast(Forecast::of_totals([1, 4, 8, 12, 17, 22, 28, 34]));
        farther.observe(&acknowledged(9 * MSS), &mut windows);
        assert_eq!(windows.cwnd, (34 - 1) * MSS);
        sprout.on_forecast(Forecast::default());
        sprout.on_loss(&windows);
        sprout.observe(&acknowledged(9 * MSS), &mut windows);
        assert_eq!(windows.cwnd, MSS);
    }
}
