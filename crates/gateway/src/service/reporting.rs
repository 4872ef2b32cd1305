//! The gateway's reports, while it runs and at its end.

use std::fs;
use std::io::Write;

use airtcp_host::error::{Error, Result, Tried};
use airtcp_units::{Instant, Probability};

use super::Gateway;
use super::installed::Installed;
use crate::control::report::Report;
use crate::datapath::Datapath;
use crate::rules::offload;

impl Gateway {
    /// The current report.
    pub(super) fn report(&self) -> Report {
        let (packets, bytes) = self.meter.passed();
        let found = self.meter.compare();
        let micros = |share: f64| {
            let tally = self.datapath.tally();
            tally.map_or(0.0, |tally| {
                tally.lateness.quantile(share).as_secs_f64() * 1e6
            })
        };
        Report {
            process: std::process::id(),
            agents: self.settings.chain.names().to_vec(),
            mobile: self.settings.mobile.clone(),
            wired: self.settings.wired.clone(),
            share: self.settings.share.map(Probability::as_f64),
            datapath: self.datapath.name(),
            rules: self.installed.as_ref().and_then(Installed::writer),
            queues: match &self.datapath {
                Datapath::Queue(apply) => {
                    apply.queues().numbers().map(|(_, queue)| queue).collect()
                }
                Datapath::Observe(_) | Datapath::Inline(_) => Vec::new(),
            },
            seconds: (self.clock.now() - Instant::ZERO).as_secs_f64(),
            packets,
            bytes,
            unseen: self.unseen,
            connections: self.meter.connections(),
            holding: self.datapath.holding(),
            did: self.datapath.counts(),
            unread: self.datapath.tally().map_or(0, |tally| tally.unread),
            late_us: [0.5, 0.99, 1.0].map(micros),
            rules_rewritten: self.pulse.rewritten(),
            reloads: self.reloads,
            offloaded: if self.offloads.is_empty() {
                None
            } else {
                offload::connections()
            },
            offloads: self.offloads.clone(),
            candidates: self.meter.candidates(),
            control: found.control,
            treated: found.treated,
            difference: found.by_connection,
            difference_by_station: found.by_station,
            worse: found.worse,
            stops_if_worse: self.settings.stop_if_worse,
            failed_attempts: self.datapath.failed_attempts(),
            expected: self.datapath.expected(),
        }
    }

    /// Writes the report as configured: to standard error, as JSON to standard output, or into a
    /// file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(super) fn write_report(&self, report: &Report) -> Result<()> {
        match self.options.report.as_deref() {
            None => eprint!("{report}"),
            Some(path) => {
                let text = serde_json::to_string(report)
                    .map_err(|error| Error::new(format!("cannot write the report: {error}")))?;
                if path.as_os_str() == "-" {
                    writeln!(std::io::stdout(), "{text}")
                } else {
                    fs::write(path, text + "\n")
                }
                .tried(|| format!("cannot write {}", path.display()))?;
            }
        }
        Ok(())
    }
}
