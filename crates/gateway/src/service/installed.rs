//! The gateway's changes to the system and their supervisors: the rules that steer packets to its
//! agents, a guard, and a watchdog.

use std::sync::Arc;

use airtcp_host::clock::Clock;
use airtcp_host::daemon::guard::Guard;
use airtcp_host::error::Result;
use airtcp_host::nftables::QueueBy;

use super::guard::{self, Cleanup};
use super::watchdog::{Pulse, Watchdog};
use crate::configuration::Settings;
use crate::datapath::Datapath;
use crate::rules::{Rules, Steering};

/// Installed changes, which are removed with the gateway.
#[derive(Debug)]
pub struct Installed {
    guard: Guard,
    /// `None` if the gateway forwards the packets itself.
    rules: Option<Rules>,
    watchdog: Option<Watchdog>,
}

impl Installed {
    /// Steers packets to the agents of `datapath`, with rules that replace an earlier gateway's,
    /// which queue packets by `before`. `None` if packets are only observed. `pulse` and
    /// its clock are supervised.
    ///
    /// # Errors
    /// The rules are refused, or a guard or watchdog cannot be started: nothing is changed then.
    pub fn lead(
        settings: &Settings,
        datapath: &Datapath,
        (pulse, clock): (&Arc<Pulse>, Clock),
        before: Option<QueueBy>,
    ) -> Result<Option<Self>> {
        let apply = match datapath {
            Datapath::Observe(_) => return Ok(None),
            Datapath::Inline(_) => {
                let join = Cleanup::Join(settings.mobile.clone(), settings.wired.clone());
                return Ok(Some(Self {
                    guard: guard::start(&join)?,
                    rules: None,
                    watchdog: None,
                }));
            }
            Datapath::Queue(apply) => apply,
        };
        let wanted = Steering::new(settings, apply.queues().numbers())?;
        let rules = Rules::write(wanted, settings.rules, before)?;
        let started = guard::start(&Cleanup::Rules(rules.clone())).and_then(|guard| {
            let rescuer = apply.queues().rescuer()?;
            let pulse = Arc::clone(pulse);
            pulse.beat(clock.now().as_nanos(), 0);
            let watchdog = Watchdog::start(pulse, clock, settings.late, rescuer, rules.clone())?;
            Ok((guard, watchdog))
        });
        match started {
            Ok((guard, watchdog)) => Ok(Some(Self {
                guard,
                rules: Some(rules),
                watchdog: Some(watchdog),
            })),
            Err(error) => {
                rules.remove();
                Err(error)
            }
        }
    }

    /// Reports to the guard that the gateway is alive.
    pub fn beat(&mut self) {
        self.guard.beat();
    }

    /// The writer of the rules.
    pub fn writer(&self) -> Option<&'static str> {
        self.rules.as_ref().map(Rules::writer)
    }

    /// Hands the rules over to a successor.
    pub fn leave(self) {
        self.guard.dismiss();
    }

    /// Removes everything. `release` releases the waiting packets.
    ///
    /// # Errors
    /// Errors of `release`; the guard then does the rest of the cleanup.
    pub fn remove(mut self, release: impl FnOnce() -> Result<()>) -> Result<()> {
        self.guard.ending();
        // Stops the watchdog from rewriting the rules during their removal.
        drop(self.watchdog);
        // A released acknowledgment is answered at once: no later packet may wait in a queue that
        // ends, and waiting packets must not be dropped with a rule's hook.
        if let Some(rules) = &self.rules {
            rules.close();
        }
        release()?;
        if let Some(rules) = &self.rules {
            rules.remove();
        }
        self.guard.dismiss();
        Ok(())
    }
}
