//! Past sessions in a file, or in memory if it cannot be used.

use std::cell::RefCell;
use std::io;
use std::path::Path;

use crate::Warning;
use crate::file::{SessionFile, is_ours, set_aside};
use crate::history::{History, Limits, Session};

/// Past sessions.
#[derive(Debug)]
pub struct Sessions {
    place: RefCell<Place>,
    limits: Limits,
}

#[derive(Debug)]
enum Place {
    File(SessionFile),
    Memory(History),
}

impl Sessions {
    /// Opens or creates the file. A damaged file of sessions is set aside and a new one begun. Any
    /// other file is left alone: sessions are then kept in memory, as they are if nothing can be
    /// written.
    #[must_use]
    pub fn open(file: &Path, limits: Limits) -> (Self, Option<Warning>) {
        let sessions = |place| Self {
            place: RefCell::new(place),
            limits,
        };
        let cause = match SessionFile::open(file, &limits) {
            Ok(opened) => return (sessions(Place::File(opened)), None),
            Err(cause) => cause,
        };
        if cause.kind() == io::ErrorKind::InvalidData
            && is_ours(file)
            && let Some(renamed) = set_aside(file)
            && let Ok(opened) = SessionFile::open(file, &limits)
        {
            let warning = Warning::SetAside {
                file: file.to_owned(),
                renamed,
                reason: cause.to_string(),
            };
            return (sessions(Place::File(opened)), Some(warning));
        }
        let warning = Warning::InMemory {
            file: file.to_owned(),
            reason: cause.to_string(),
        };
        let memory = sessions(Place::Memory(History::default()));
        (memory, Some(warning))
    }

    /// Records that a session with `peer` ended at `ended_at` with a steady window of `window`
    /// segments; clocks there are `offset_seconds` ahead of UTC.
    ///
    /// # Errors
    /// A warning if it could not be written; nothing else is lost.
    pub fn record(
        &mut self,
        peer: &str,
        ended_at: i64,
        offset_seconds: i32,
        window: u32,
    ) -> Result<(), Warning> {
        let session = Session {
            peer: peer.to_owned(),
            ended_at,
            offset_seconds,
            window,
        };
        match self.place.get_mut() {
            Place::File(file) => file
                .append(session, &self.limits)
                .map_err(|cause| failed("writing a session", &cause)),
            Place::Memory(history) => {
                history.add(session, &self.limits);
                Ok(())
            }
        }
    }

    /// The initial window towards `peer` at `at`, in segments: the median of the past sessions that
    /// match most closely, if there are enough. `None` for an unknown peer, or on any error.
    ///
    /// # Errors
    /// A warning if the file could not be read.
    pub fn initial_window(
        &self,
        peer: &str,
        at: i64,
        offset_seconds: i32,
    ) -> Result<Option<u32>, Warning> {
        self.read("looking up a peer", |history| {
            history.median_window(peer, at, offset_seconds, &self.limits)
        })
    }

    /// Number of stored sessions.
    ///
    /// # Errors
    /// A warning if the file could not be read.
    pub fn count(&self) -> Result<u32, Warning> {
        self.read("counting sessions", |history| {
            u32::try_from(history.len()).unwrap_or(u32::MAX)
        })
    }

    fn read<T>(&self, what: &'static str, of: impl FnOnce(&History) -> T) -> Result<T, Warning> {
        match &mut *self.place.borrow_mut() {
            Place::File(file) => file
                .history(&self.limits)
                .map(of)
                .map_err(|cause| failed(what, &cause)),
            Place::Memory(history) => Ok(of(history)),
        }
    }
}

fn failed(what: &'static str, cause: &io::Error) -> Warning {
    Warning::Failed {
        what,
        reason: cause.to_string(),
    }
}
