//! The registered window rules, one line each, and the dispatch to the one of a connection.

use alloc::boxed::Box;

use airtcp_units::{Duration, Instant};

use super::rule::{Model, Rule, Start};
use super::windows::Windows;
use super::{
    Ack, bbr, c2tcp, cubic, illinois, jersey, ledbat, prague, reno, vegas, veno, westwood,
};
use crate::config::{Config, CongestionControl};

/// Declares each rule once: its choice in a configuration, and its type.
macro_rules! controls {
    ($($Name:ident($Rule:ty),)+) => {
        /// The rule of a connection. All except the common one are boxed, so that very many
        /// connections fit in memory.
        #[derive(Clone, Debug)]
        pub(super) enum Control {
            $($Name($Rule),)+
        }

        impl Start for Control {
            fn start(config: &Config, windows: &Windows) -> Self {
                match config.congestion {
                    $(CongestionControl::$Name => Self::$Name(Start::start(config, windows)),)+
                }
            }
        }

        impl Rule for Control {
            #[inline]
            fn observe(&mut self, ack: &Ack, windows: &mut Windows) {
                match self { $(Self::$Name(rule) => rule.observe(ack, windows),)+ }
            }

            #[inline]
            fn grow(&mut self, acked: u64, windows: &Windows) -> u64 {
                match self { $(Self::$Name(rule) => rule.grow(acked, windows),)+ }
            }

            fn threshold(&mut self, base: u64, windows: &Windows) -> u64 {
                match self { $(Self::$Name(rule) => rule.threshold(base, windows),)+ }
            }

            fn on_timeout(&mut self) {
                match self { $(Self::$Name(rule) => rule.on_timeout(),)+ }
            }

            fn on_taken_back(&mut self) {
                match self { $(Self::$Name(rule) => rule.on_taken_back(),)+ }
            }

            fn on_idle_over(&mut self, now: Instant, idle: Duration) {
                match self { $(Self::$Name(rule) => rule.on_idle_over(now, idle),)+ }
            }

            fn heed_each_mark(&mut self) -> bool {
                match self { $(Self::$Name(rule) => rule.heed_each_mark(),)+ }
            }

            fn reductions_for_marks(&self) -> u64 {
                match self { $(Self::$Name(rule) => rule.reductions_for_marks(),)+ }
            }

            #[inline]
            fn paced_window(&self, windows: &Windows) -> Option<u64> {
                match self { $(Self::$Name(rule) => rule.paced_window(windows),)+ }
            }

            #[inline]
            fn model(&self) -> Option<Model> {
                match self { $(Self::$Name(rule) => rule.model(),)+ }
            }
        }
    };
}

controls! {
    Reno(reno::Reno),
    Cubic(Box<cubic::Cubic>),
    Westwood(Box<westwood::Westwood>),
    Veno(Box<veno::Veno>),
    Vegas(Box<vegas::Vegas>),
    Illinois(Box<illinois::Illinois>),
    C2Tcp(Box<c2tcp::C2Tcp>),
    Ledbat(Box<ledbat::Ledbat>),
    Prague(Box<prague::Prague>),
    Jersey(Box<jersey::Jersey>),
    Bbr(Box<bbr::Bbr>),
    BbrV3(Box<bbr::BbrV3>),
}
