//! The registered controls, one line each, and the dispatch to the one of a connection.

use alloc::boxed::Box;

use airtcp_packet::Forecast;
use airtcp_units::{Duration, Instant};

use super::external::External;
use super::model::{Demands, Model};
use super::rule::{Rule, Start};
use super::windows::Windows;
use super::{
    Ack, abc, bbr, c2tcp, cdg, copa, cubic, dctcp, htcp, hybla, illinois, jersey, ledbat, pcc,
    prague, reno, sprout, vegas, veno, verus, westwood, yeah,
};
use crate::config::{Config, CongestionControl};

/// Declares each control once, by kind: its choice in a configuration, and its type.
macro_rules! controls {
    (
        rules { $($Name:ident($Rule:ty),)+ }
        models { $($Based:ident($Model:ty),)+ }
    ) => {
        /// The control that a configuration chooses.
        pub(super) enum Chosen {
            Rule(AnyRule),
            Model(AnyModel),
            /// One that is not compiled in.
            External(Box<External>),
        }

        impl Start for Chosen {
            fn start(config: &Config, windows: &Windows) -> Self {
                match config.congestion {
                    $(CongestionControl::$Name => {
                        Self::Rule(AnyRule::$Name(Start::start(config, windows)))
                    })+
                    $(CongestionControl::$Based => {
                        Self::Model(AnyModel::$Based(Start::start(config, windows)))
                    })+
                    CongestionControl::External(control) => {
                        let operations = control.operations();
                        Self::External(Box::new(External::new(operations, config.pacing)))
                    }
                }
            }
        }

        impl CongestionControl {
            /// Whether it sets the window from a model of the path, in place of slow start and a
            /// rule for acknowledgments and losses.
            #[must_use]
            pub const fn is_model(self) -> bool {
                match self {
                    $(Self::$Name => false,)+
                    $(Self::$Based => true,)+
                    // It sees losses as a rule does, whatever it makes of them.
                    Self::External(_) => false,
                }
            }
        }

        /// The window rule of a connection. All except the common one are boxed, so that very many
        /// connections fit in memory.
        #[derive(Clone, Debug)]
        pub(super) enum AnyRule {
            $($Name($Rule),)+
        }

        impl Rule for AnyRule {
            #[inline]
            fn observe(&mut self, ack: &Ack, windows: &mut Windows) {
                match self { $(Self::$Name(rule) => rule.observe(ack, windows),)+ }
            }

            fn on_established(&mut self, rtt: Option<Duration>, windows: &mut Windows) {
                match self { $(Self::$Name(rule) => rule.on_established(rtt, windows),)+ }
            }

            #[inline]
            fn slow_start(&mut self, windows: &Windows) -> Option<u64> {
                match self { $(Self::$Name(rule) => rule.slow_start(windows),)+ }
            }

            #[inline]
            fn grow(&mut self, acked: u64, windows: &Windows) -> u64 {
                match self { $(Self::$Name(rule) => rule.grow(acked, windows),)+ }
            }

            #[inline]
            fn after_growth(&mut self, windows: &mut Windows) {
                match self { $(Self::$Name(rule) => rule.after_growth(windows),)+ }
            }

            fn demands_reduction(&self) -> bool {
                match self { $(Self::$Name(rule) => rule.demands_reduction(),)+ }
            }

            fn threshold(&mut self, base: u64, windows: &Windows) -> u64 {
                match self { $(Self::$Name(rule) => rule.threshold(base, windows),)+ }
            }

            fn threshold_for_mark(&mut self, base: u64, windows: &Windows) -> u64 {
                match self { $(Self::$Name(rule) => rule.threshold_for_mark(base, windows),)+ }
            }

            fn on_given_up(&mut self, windows: &mut Windows) {
                match self { $(Self::$Name(rule) => rule.on_given_up(windows),)+ }
            }

            fn on_reduction_over(&mut self, windows: &mut Windows) {
                match self { $(Self::$Name(rule) => rule.on_reduction_over(windows),)+ }
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

            fn on_restart(&mut self, windows: &Windows) {
                match self { $(Self::$Name(rule) => rule.on_restart(windows),)+ }
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
        }

        /// The model of a connection.
        #[derive(Clone, Debug)]
        pub(super) enum AnyModel {
            $($Based($Model),)+
        }

        impl Model for AnyModel {
            #[inline]
            fn observe(&mut self, ack: &Ack, windows: &mut Windows) {
                match self { $(Self::$Based(model) => model.observe(ack, windows),)+ }
            }

            fn on_forecast(&mut self, forecast: Forecast) {
                match self { $(Self::$Based(model) => model.on_forecast(forecast),)+ }
            }

            fn on_loss(&mut self, windows: &Windows) {
                match self { $(Self::$Based(model) => model.on_loss(windows),)+ }
            }

            fn on_mark(&mut self, windows: &mut Windows) -> bool {
                match self { $(Self::$Based(model) => model.on_mark(windows),)+ }
            }

            fn on_timeout(&mut self) {
                match self { $(Self::$Based(model) => model.on_timeout(),)+ }
            }

            fn on_taken_back(&mut self) {
                match self { $(Self::$Based(model) => model.on_taken_back(),)+ }
            }

            fn on_idle_over(&mut self, now: Instant) {
                match self { $(Self::$Based(model) => model.on_idle_over(now),)+ }
            }

            #[inline]
            fn demands(&self) -> Demands {
                match self { $(Self::$Based(model) => model.demands(),)+ }
            }
        }
    };
}

controls! {
    rules {
        Reno(reno::Reno),
        Cubic(Box<cubic::Cubic>),
        Westwood(Box<westwood::Westwood>),
        Veno(Box<veno::Veno>),
        Vegas(Box<vegas::Vegas>),
        Illinois(Box<illinois::Illinois>),
        Hybla(Box<hybla::Hybla>),
        HTcp(Box<htcp::HTcp>),
        Yeah(Box<yeah::Yeah>),
        Cdg(Box<cdg::Cdg>),
        Dctcp(Box<dctcp::Dctcp>),
        C2Tcp(Box<c2tcp::C2Tcp>),
        Ledbat(Box<ledbat::Ledbat>),
        Prague(Box<prague::Prague>),
        Jersey(Box<jersey::Jersey>),
    }
    models {
        Bbr(Box<bbr::Bbr>),
        BbrV3(Box<bbr::BbrV3>),
        Copa(Box<copa::Copa>),
        Vivace(Box<pcc::Vivace>),
        ProteusP(Box<pcc::Proteus>),
        ProteusS(Box<pcc::Proteus>),
        Verus(Box<verus::Verus>),
        Abc(Box<abc::Abc>),
        Sprout(Box<sprout::Sprout>),
    }
}
