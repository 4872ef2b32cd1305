//! The kernel's queueing discipline as the queue before the link.

use std::fmt;

use airtcp_host::device::discipline::Discipline;
use airtcp_host::device::statistics::QueueCounts;
use airtcp_host::error::{Error, Result};
use airtcp_link::{PipeConfig, Service};
use airtcp_scenario::{Link, Scenario};
use airtcp_units::BitRate;

use super::stack::Stack;

/// A discipline on a device that is as slow as the link, so that packets wait in the kernel.
///
/// The emulated link is unchanged and gets a packet at a time: it adds the time of the last packet
/// on the link, and its queue is empty.
#[derive(Clone, Debug)]
pub struct KernelQueue {
    discipline: Discipline,
    rate: BitRate,
    mtu: u16,
}

impl KernelQueue {
    /// The queue with this discipline before the scenario's link; `None` without a discipline.
    ///
    /// # Errors
    ///
    /// The syntax is wrong, the link has no constant rate, or a remedy needs another discipline.
    pub fn of(
        words: Option<&str>,
        stack: &Stack,
        scenario: &Scenario,
        mtu: u16,
    ) -> Result<Option<Self>> {
        let Some(words) = words else {
            return Ok(None);
        };
        let discipline = Discipline::parse(words)?;
        if let Some(other) = &stack.discipline {
            return Err(Error::new(format!(
                "--discipline {words}: a remedy has the sender use {other}; leave one of them out"
            )));
        }
        match &scenario.link {
            Link::Pipe { data, .. } => Self::before(words, discipline, data, mtu).map(Some),
            Link::Medium(_) => Err(unshaped(words)),
        }
    }

    /// The same for the direction of the acknowledgments.
    ///
    /// # Errors
    ///
    /// The syntax is wrong, or the link has no constant rate in that direction.
    pub fn of_acks(words: Option<&str>, scenario: &Scenario, mtu: u16) -> Result<Option<Self>> {
        let Some(words) = words else {
            return Ok(None);
        };
        let discipline = Discipline::parse(words)?;
        match &scenario.link {
            Link::Pipe { acks, .. } => Self::before(words, discipline, acks, mtu).map(Some),
            Link::Medium(_) => Err(unshaped(words)),
        }
    }

    fn before(words: &str, discipline: Discipline, pipe: &PipeConfig, mtu: u16) -> Result<Self> {
        match pipe.service {
            Service::Constant(rate) => Ok(Self {
                discipline,
                rate,
                mtu,
            }),
            _ => Err(unshaped(words)),
        }
    }

    /// The counters of the kernel's discipline on a device of the calling thread's namespace.
    ///
    /// # Errors
    ///
    /// The kernel does not answer.
    pub fn counts(&self, device: &str) -> Result<QueueCounts> {
        QueueCounts::of(device, self.discipline.kind())
    }

    /// Attaches it to a device of the calling thread's namespace.
    ///
    /// # Errors
    ///
    /// The kernel lacks the discipline.
    pub fn put(&self, device: &str) -> Result<()> {
        self.discipline.put_with_rate(device, self.rate, self.mtu)
    }
}

impl fmt::Display for KernelQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", self.discipline, self.rate)
    }
}

fn unshaped(words: &str) -> Error {
    Error::new(format!(
        "--discipline {words}: the kernel's disciplines are slowed down to a constant rate; expected \
         topology = \"pipe\" with link.rate alone, without stops or a trace"
    ))
}
