//! The database file: robust against any content, with short transactions and a bounded size.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};

use crate::{Cell, Precision, Warning};

/// Marks files of sessions (`PRAGMA application_id`): "airt".
const APPLICATION: i32 = 0x6169_7274;
/// The layout (`PRAGMA user_version`).
const VERSION: i32 = 1;
/// Time that a writer waits for another.
const PATIENCE: Duration = Duration::from_secs(5);

const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS session (
        peer TEXT NOT NULL, month INTEGER NOT NULL, weekday INTEGER NOT NULL, hour INTEGER NOT NULL,
        ended_at INTEGER NOT NULL, window INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX IF NOT EXISTS of_peer ON session (peer, ended_at);
    CREATE INDEX IF NOT EXISTS by_age ON session (ended_at);";

/// Limits of stored sessions, and of their use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum age in seconds; older sessions do not count and are deleted.
    pub age: i64,
    /// Maximum number of stored sessions; the oldest are deleted first.
    pub sessions: u32,
    /// Maximum number of stored sessions per peer.
    pub of_a_peer: u32,
    /// Minimum number of matches to be used.
    pub enough: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            age: 90 * 24 * 3600,
            sessions: 100_000,
            of_a_peer: 1000,
            enough: 3,
        }
    }
}

/// Past sessions.
#[derive(Debug)]
pub struct Sessions {
    connection: Connection,
    limits: Limits,
}

impl Sessions {
    /// Opens or creates the file. A damaged file of sessions is set aside and a new one begun. Any
    /// other file is left alone: sessions are then kept in memory, as they are if nothing can be
    /// written.
    ///
    /// # Panics
    /// If SQLite cannot even open a database in memory.
    #[must_use]
    pub fn open(file: &Path, limits: Limits) -> (Self, Option<Warning>) {
        let reason = match open_checked(file) {
            Ok(connection) => return (Self { connection, limits }, None),
            Err(reason) => reason,
        };
        if reason.is_damage
            && is_ours(file)
            && let Some(renamed) = set_aside(file)
            && let Ok(connection) = open_checked(file)
        {
            let warning = Warning::SetAside {
                file: file.to_owned(),
                renamed,
                reason: reason.text,
            };
            return (Self { connection, limits }, Some(warning));
        }
        let connection = Connection::open_in_memory().expect("memory needs no file");
        let warning = Warning::InMemory {
            file: file.to_owned(),
            reason: match prepare(&connection) {
                Ok(()) => reason.text,
                Err(error) => error.to_string(),
            },
        };
        (Self { connection, limits }, Some(warning))
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
        self.try_record(peer, ended_at, offset_seconds, window)
            .map_err(|error| Warning::Failed {
                what: "writing a session",
                reason: error.to_string(),
            })
    }

    fn try_record(
        &mut self,
        peer: &str,
        ended_at: i64,
        offset_seconds: i32,
        window: u32,
    ) -> rusqlite::Result<()> {
        let cell = Cell::at(ended_at, offset_seconds);
        let limits = self.limits;
        // Locked for writing at once: two transactions that read first could not both continue.
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        transaction.execute(
            "INSERT INTO session VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![peer, cell.month, cell.weekday, cell.hour, ended_at, window],
        )?;
        transaction.execute(
            "DELETE FROM session WHERE ended_at < ?1",
            [ended_at.saturating_sub(limits.age)],
        )?;
        for (condition, most) in [
            ("peer = ?1", limits.of_a_peer),
            ("?1 = ?1", limits.sessions),
        ] {
            transaction.execute(
                &format!(
                    "DELETE FROM session WHERE rowid IN (SELECT rowid FROM session WHERE {condition} \
                     ORDER BY ended_at DESC, rowid DESC LIMIT -1 OFFSET ?2)"
                ),
                params![peer, most],
            )?;
        }
        transaction.commit()
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
        self.try_initial_window(peer, at, offset_seconds)
            .map_err(|error| Warning::Failed {
                what: "looking up a peer",
                reason: error.to_string(),
            })
    }

    fn try_initial_window(
        &self,
        peer: &str,
        at: i64,
        offset_seconds: i32,
    ) -> rusqlite::Result<Option<u32>> {
        let cell = Cell::at(at, offset_seconds);
        let oldest = at.saturating_sub(self.limits.age);
        for precision in Precision::ALL {
            let matching = format!(
                "FROM session WHERE peer = ?1 AND {} AND ended_at >= ?5",
                precision.condition()
            );
            let values = params![peer, cell.month, cell.weekday, cell.hour, oldest];
            let count: u32 = self.connection.query_row(
                &format!("SELECT COUNT(*) {matching}"),
                values,
                |row| row.get(0),
            )?;
            if count < self.limits.enough.max(1) {
                continue;
            }
            let median = (count - 1) / 2;
            return self
                .connection
                .query_row(
                    &format!("SELECT window {matching} ORDER BY window LIMIT 1 OFFSET {median}"),
                    values,
                    |row| row.get(0),
                )
                .optional();
        }
        Ok(None)
    }

    /// Number of stored sessions.
    ///
    /// # Errors
    /// A warning if the file could not be read.
    pub fn count(&self) -> Result<u32, Warning> {
        self.connection
            .query_row("SELECT COUNT(*) FROM session", [], |row| row.get(0))
            .map_err(|error| Warning::Failed {
                what: "counting sessions",
                reason: error.to_string(),
            })
    }
}

/// Why a file could not be opened, and whether its content is invalid.
struct Refusal {
    text: String,
    is_damage: bool,
}

impl From<rusqlite::Error> for Refusal {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
        let is_damage = matches!(
            error.sqlite_error_code(),
            Some(DatabaseCorrupt | NotADatabase)
        );
        Self {
            text: error.to_string(),
            is_damage,
        }
    }
}

fn open_checked(file: &Path) -> Result<Connection, Refusal> {
    let wrong = |text: String| Refusal {
        text,
        is_damage: true,
    };
    let connection = Connection::open(file)?;
    connection.busy_timeout(PATIENCE)?;
    let pragma = |name: &str| -> rusqlite::Result<i32> {
        connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get(0))
    };
    let (application, version) = (pragma("application_id")?, pragma("user_version")?);
    let tables: u32 =
        connection.query_row("SELECT COUNT(*) FROM sqlite_master", [], |row| row.get(0))?;
    if tables > 0 && application != APPLICATION {
        return Err(wrong("a database of another program".to_owned()));
    }
    if tables > 0 && version != VERSION {
        return Err(wrong(format!(
            "layout {version}, where {VERSION} was expected"
        )));
    }
    let sound: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    if sound != "ok" {
        return Err(wrong(format!("damaged: {sound}")));
    }
    prepare(&connection)?;
    Ok(connection)
}

/// Write-ahead logging: readers and a writer do not wait for each other, and a crash loses no more
/// than the transaction that was being written.
fn prepare(connection: &Connection) -> rusqlite::Result<()> {
    connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
    connection.execute_batch(&format!(
        "PRAGMA synchronous = NORMAL; BEGIN IMMEDIATE; {SCHEMA} PRAGMA application_id = {APPLICATION}; \
         PRAGMA user_version = {VERSION}; COMMIT"
    ))
}

/// Whether a file is marked as holding sessions: SQLite's header contains the application (Database
/// File Format §1.3, offset 68). Any other file belongs to someone else.
fn is_ours(file: &Path) -> bool {
    let mut header = [0; 72];
    File::open(file)
        .and_then(|mut file| file.read_exact(&mut header))
        .is_ok_and(|()| {
            header.starts_with(b"SQLite format 3\0") && header[68..] == APPLICATION.to_be_bytes()
        })
}

/// Renames the file, and forgets the log that belonged to it.
fn set_aside(file: &Path) -> Option<PathBuf> {
    let beside = |suffix: &str| {
        let mut name = file.as_os_str().to_owned();
        name.push(suffix);
        PathBuf::from(name)
    };
    let renamed = (1..10_000)
        .map(|number| beside(&format!(".corrupt-{number}")))
        .find(|name| !name.exists())?;
    std::fs::rename(file, &renamed).ok()?;
    for log in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(beside(log));
    }
    Some(renamed)
}
