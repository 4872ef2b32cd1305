//! A diversion with the proxy's lifetime: recorded before it is made, removed at the end, after a
//! crash by the guard, and if that was killed too at the next start.

use std::os::fd::OwnedFd;

use airtcp_host::changes::guard;
use airtcp_host::changes::journal::{Journal, Locked};
use airtcp_host::changes::{Change, Places, Record, Undone, engine};
use airtcp_host::clock::{boot_time_ns, since_1970};
use airtcp_host::daemon::guard::Guard;
use airtcp_host::daemon::program;
use airtcp_host::error::{Error, Result};
use serde::{Deserialize, Serialize};

use crate::divert::Diversion;

/// Proxies have a journal separate from that of deployments.
const FOLDER: &str = "proxy";

/// A diversion, and everything needed to remove it.
#[derive(Debug)]
pub struct JournaledDiversion {
    journal: Journal<Entry>,
    lock: Locked,
    guard: Guard,
}

impl JournaledDiversion {
    /// Makes the diversion in the calling thread's network namespace.
    ///
    /// # Errors
    ///
    /// Another proxy has one here, or the kernel refuses it: in that case nothing is changed.
    pub fn make(diversion: Diversion, places: &Places) -> Result<Self> {
        let places = own(places);
        let journal = places.journal::<Entry>()?;
        let lock = journal.lock()?.ok_or_else(|| {
            Error::new("a transparent proxy runs in this network namespace already")
                .remedied_by("airtcp proxy --status says which; end it first")
        })?;
        if journal.read()?.is_some() {
            engine::undo(&journal, &lock, false, &mut |_| {})?;
            eprintln!("airtcp-net: took away the rules of a proxy that was killed");
        }
        let guard = guard::start::<Entry>(&program::running()?, &places)?;
        let entry = Entry::new(diversion);
        // It stays in the stage of being made: a process that finds it without an owner removes it.
        journal.write(&entry)?;
        for change in &entry.changes {
            if let Err(error) = change.make() {
                engine::undo(&journal, &lock, false, &mut |_| {})?;
                guard.dismiss();
                return Err(error.remedied_by("everything is as it was"));
            }
        }
        Ok(Self {
            journal,
            lock,
            guard,
        })
    }

    /// Takes over the diversion of a running predecessor, with its lock.
    ///
    /// # Errors
    ///
    /// It is another diversion, or no guard can be started: the predecessor then keeps it.
    pub fn inherit(diversion: &Diversion, places: &Places, lock: OwnedFd) -> Result<Self> {
        let places = own(places);
        let journal = places.journal::<Entry>()?;
        let found = journal.read()?;
        if found.is_none_or(|(_, entry)| entry.changes[0] != *diversion) {
            return Err(
                Error::new("the journal has no diversion with these options to take over")
                    .remedied_by(
                        "take over with the same --state and the predecessor's other options",
                    ),
            );
        }
        let guard = guard::start::<Entry>(&program::running()?, &places)?;
        let lock = journal.inherit(lock);
        Ok(Self {
            journal,
            lock,
            guard,
        })
    }

    /// A descriptor of its lock, for a successor.
    ///
    /// # Errors
    ///
    /// The system has no descriptors left.
    pub fn lock(&self) -> Result<OwnedFd> {
        self.lock.descriptor()
    }

    /// Hands it over to a successor.
    pub fn leave(self) {
        self.lock.leave();
        self.guard.dismiss();
    }

    /// Removes it.
    ///
    /// # Errors
    ///
    /// The kernel refuses; the journal keeps it for the next start.
    pub fn undo(self) -> Result<()> {
        engine::undo(&self.journal, &self.lock, false, &mut |_| {})?;
        self.guard.dismiss();
        Ok(())
    }
}

/// The places of proxies, among these.
fn own(places: &Places) -> Places {
    Places {
        state: places.state.join(FOLDER),
        pins: places.pins.clone(),
    }
}

/// The record of a diversion.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Entry {
    /// Time at which it was made, in seconds since 1970.
    since: u64,
    /// Time at which it was made, in nanoseconds of `CLOCK_BOOTTIME`.
    id: u64,
    /// The diversion.
    changes: [Diversion; 1],
}

impl Entry {
    fn new(diversion: Diversion) -> Self {
        Self {
            since: since_1970() / 1_000_000_000,
            id: boot_time_ns(),
            changes: [diversion],
        }
    }
}

impl Record for Entry {
    type Change = Diversion;

    const GUARD: &'static str = "proxy-guard";
    const REMEDY: &'static str = "the next start of airtcp proxy --transparent tries again";

    fn changes(&self) -> &[Diversion] {
        &self.changes
    }

    fn id(&self) -> u64 {
        self.id
    }
}

impl Change for Diversion {
    fn make(&self) -> Result<()> {
        Self::make(self)
    }

    fn undo(&self) -> Result<Undone> {
        Self::undo(self).map(|()| Undone::Back)
    }
}
