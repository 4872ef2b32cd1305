//! The kernel's own queueing discipline as the queue before the link.

use std::fmt;

use airtcp_host::device::discipline::Discipline;
use airtcp_host::device::statistics::QueueCounts;
use airtcp_host::error::{Error, Result};
use airtcp_link::{PipeConfig, Service};
use airtcp_scenario::{Link, Scenario};
use airtcp_units::BitRate;

use super::stack::Stack;

/// A discipline before a device that is as slow as the link, so that packets wait in the kernel.
///
/// The emulated link stays as it is and finds a packet at a time: it adds the time that the last
/// packet takes on the link, and its own queue is empty.
#[derive(Clone, Debug)]
pub struct KernelQueue {
    discipline: Discipline,
    rate: BitRate,
    mtu: u16,
}

impl KernelQueue {
    /// The queue with the discipline in these words, before the scenario's link; `None` without
    /// words.
    ///
    /// # Errors
    ///
    /// The words are wrong, the link has no constant rate, or a remedy wants another discipline.
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

    /// The same for the direction that acknowledgments take.
    ///
    /// # Errors
    ///
    /// The words are wrong, or the link has no constant rate in that direction.
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

    /// What the kernel's discipline before a device of the calling thread's namespace has counted.
    ///
    /// # Errors
    ///
    /// The kernel does not tell.
    pub fn counts(&self, device: &str) -> Result<QueueCounts> {
        QueueCounts::of(device, self.discipline.kind())
    }

    /// Puts it before a device of the calling thread's namespace.
    ///
    /// # Errors
    ///
    /// The kernel does not have the discipline.
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
