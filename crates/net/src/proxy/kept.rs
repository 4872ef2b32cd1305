//! A diversion that lasts as long as the proxy: recorded before it is made, removed at the end,
//! after a crash by the guard, and if that was killed too at the next start.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::divert::Diversion;
use crate::deploy::Places;
use crate::deploy::change::Change;
use crate::deploy::engine;
use crate::deploy::guard::{Guard, boot_time_ns};
use crate::deploy::journal::{Entry, Journal, Locked};
use crate::error::{Error, Result, Tried};

/// Proxies have a separate journal beside that of deployments.
const FOLDER: &str = "proxy";
/// The guard of a killed proxy is done within milliseconds.
const PATIENCE: Duration = Duration::from_secs(5);

/// A diversion, and everything needed to remove it.
#[derive(Debug)]
pub struct Kept {
    journal: Journal,
    lock: Locked,
    guard: Guard,
}

impl Kept {
    /// Makes the diversion in the calling thread's network namespace.
    ///
    /// # Errors
    ///
    /// Another proxy has one here, or the kernel refuses it: in that case nothing is changed.
    pub fn make(diversion: Diversion, places: &Places) -> Result<Self> {
        let places = Places {
            state: places.state.join(FOLDER),
            pins: places.pins.clone(),
        };
        let journal = places.journal()?;
        let lock = lock(&journal)?;
        if journal.read()?.is_some() {
            engine::undo(&journal, &lock, false, &mut |_| {})?;
            eprintln!("airtcp-net: took away the rules of a proxy that was killed");
        }
        let program = std::env::current_exe()
            .tried(|| "cannot find the program that is running".to_owned())?;
        let guard = Guard::start(&program, &places)?;
        let entry = entry(diversion);
        // It stays in the stage of being made: a process that finds it without its owner removes
        // it.
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

/// Takes the lock, which the guard of a dead proxy may hold for a moment.
fn lock(journal: &Journal) -> Result<Locked> {
    let start = Instant::now();
    loop {
        match journal.lock(false) {
            Ok(lock) => return Ok(lock),
            Err(_) if start.elapsed() < PATIENCE => {
                std::thread::sleep(Duration::from_millis(20));
            }
            Err(_) => {
                return Err(Error::new(
                    "a transparent proxy runs in this network namespace already",
                )
                .remedied_by("airtcp proxy --status says which; end it first"));
            }
        }
    }
}

fn entry(diversion: Diversion) -> Entry {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    Entry {
        remedies: "proxy".to_owned(),
        target: format!("--device {}", diversion.device),
        share: None,
        since: since.map_or(0, |time| time.as_secs()),
        until_ns: None,
        id: boot_time_ns(),
        changes: vec![Change::Diversion(diversion)],
        notes: Vec::new(),
        control: None,
    }
}
