//! The file of sessions: a header, then a line of JSON for each session, appended under a lock.
//!
//! A line counts once its end is written, so that a killed writer loses nothing else. Deleted
//! sessions are left out when the file is rewritten, under a temporary name.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::history::{History, Limits, Session};

/// The first line: the kind of file, and its layout.
const HEADER: &str = "airtcp sessions 2\n";
/// How files of SQLite start (Database File Format §1.3), and the mark in files of earlier
/// versions of airtcp, at offset 68 ("airt").
const SQLITE: &[u8] = b"SQLite format 3\0";
const SQLITE_MARK: &[u8] = b"airt";
/// Time that a process waits for another.
const PATIENCE: Duration = Duration::from_secs(5);
/// Number of deleted lines that are not worth rewriting the file.
const SPARE: usize = 1000;

/// A line of the file: peer, end, offset, window.
type Line = (String, i64, i32, u32);

/// The file of sessions, as far as it was read.
#[derive(Debug)]
pub struct SessionFile {
    path: PathBuf,
    history: History,
    /// Device and inode of the file that was read.
    identity: Option<(u64, u64)>,
    /// The end of the last line read, and the number of sessions up to there.
    offset: u64,
    lines: usize,
}

impl SessionFile {
    /// Opens or creates the file.
    ///
    /// # Errors
    ///
    /// It cannot be written, is damaged, or belongs to another program.
    pub fn open(path: &Path, limits: &Limits) -> io::Result<Self> {
        let mut this = Self {
            path: path.to_owned(),
            history: History::default(),
            identity: None,
            offset: 0,
            lines: 0,
        };
        let mut file = this.locked(FlockOperation::NonBlockingLockExclusive)?;
        this.catch_up(&mut file, limits)?;
        this.begin(&mut file)?;
        Ok(this)
    }

    /// The sessions of all processes until now.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub fn history(&mut self, limits: &Limits) -> io::Result<&History> {
        let mut file = self.locked(FlockOperation::NonBlockingLockShared)?;
        self.catch_up(&mut file, limits)?;
        Ok(&self.history)
    }

    /// Appends a session.
    ///
    /// # Errors
    ///
    /// The file cannot be written; then nothing has changed.
    pub fn append(&mut self, session: Session, limits: &Limits) -> io::Result<()> {
        let mut file = self.locked(FlockOperation::NonBlockingLockExclusive)?;
        self.catch_up(&mut file, limits)?;
        self.begin(&mut file)?;
        // Part of a line, left by a writer that was killed.
        if file.metadata()?.len() > self.offset {
            file.set_len(self.offset)?;
        }
        let line = line(&session)?;
        if let Err(cause) = file.write_all(line.as_bytes()) {
            file.set_len(self.offset)?;
            return Err(cause);
        }
        self.offset += line.len() as u64;
        self.lines += 1;
        self.history.add(session, limits);
        if self.lines > 2 * self.history.len() + SPARE {
            self.rewrite()?;
        }
        Ok(())
    }

    /// Opens the file and locks it. It may be replaced while this process waits for the lock; then
    /// the new one is opened.
    fn locked(&self, operation: FlockOperation) -> io::Result<File> {
        let start = Instant::now();
        loop {
            let file = OpenOptions::new()
                .read(true)
                .append(true)
                .create(true)
                .open(&self.path)?;
            match flock(&file, operation) {
                Ok(()) => {
                    let named = std::fs::metadata(&self.path);
                    if named.is_ok_and(|named| identity(&named) == file_identity(&file)) {
                        return Ok(file);
                    }
                }
                Err(Errno::WOULDBLOCK | Errno::INTR) => {
                    if start.elapsed() > PATIENCE {
                        return Err(io::ErrorKind::TimedOut.into());
                    }
                    sleep(Duration::from_millis(1));
                }
                Err(cause) => return Err(cause.into()),
            }
        }
    }

    /// Reads lines that other processes have appended.
    fn catch_up(&mut self, file: &mut File, limits: &Limits) -> io::Result<()> {
        let metadata = file.metadata()?;
        let found = identity(&metadata);
        if found != self.identity || metadata.len() < self.offset {
            (self.identity, self.offset, self.lines) = (found, 0, 0);
            self.history = History::default();
        }
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(self.offset))?;
        file.read_to_end(&mut bytes)?;
        if self.offset == 0 && !bytes.is_empty() {
            check_header(&bytes)?;
        }
        let complete = bytes.iter().rposition(|&byte| byte == b'\n');
        let complete = &bytes[..complete.map_or(0, |end| end + 1)];
        for line in complete.split_inclusive(|&byte| byte == b'\n') {
            if self.offset > 0 {
                self.history.add(parse(line)?, limits);
                self.lines += 1;
            }
            self.offset += line.len() as u64;
        }
        Ok(())
    }

    /// Writes the header of an empty file.
    fn begin(&mut self, file: &mut File) -> io::Result<()> {
        if self.offset == 0 {
            file.write_all(HEADER.as_bytes())?;
            self.offset = HEADER.len() as u64;
        }
        Ok(())
    }

    /// Replaces the file by one without deleted sessions.
    fn rewrite(&mut self) -> io::Result<()> {
        let mut text = HEADER.to_owned();
        let sessions = self.history.sessions();
        for session in &sessions {
            text.push_str(&line(session)?);
        }
        let lines = sessions.len();
        let temporary = with_suffix(&self.path, ".new");
        let mut file = File::create(&temporary)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        std::fs::rename(&temporary, &self.path)?;
        self.identity = file_identity(&file);
        (self.offset, self.lines) = (text.len() as u64, lines);
        Ok(())
    }
}

/// Whether a file is one of sessions. Any other file belongs to someone else.
pub fn is_ours(path: &Path) -> bool {
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(72).read_to_end(&mut head));
    read.is_ok() && (head.starts_with(HEADER.as_bytes()) || is_of_earlier_version(&head))
}

/// Renames the file, and removes the logs of an earlier version's SQLite.
pub fn set_aside(path: &Path) -> Option<PathBuf> {
    let renamed = (1..10_000)
        .map(|number| with_suffix(path, &format!(".corrupt-{number}")))
        .find(|name| !name.exists())?;
    std::fs::rename(path, &renamed).ok()?;
    for log in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(with_suffix(path, log));
    }
    Some(renamed)
}

fn check_header(bytes: &[u8]) -> io::Result<()> {
    let reason = if bytes.starts_with(HEADER.as_bytes()) {
        return Ok(());
    } else if is_of_earlier_version(bytes) {
        "written by an earlier version of airtcp"
    } else {
        "not a file of sessions"
    };
    Err(io::Error::new(io::ErrorKind::InvalidData, reason))
}

fn is_of_earlier_version(head: &[u8]) -> bool {
    head.starts_with(SQLITE) && head.get(68..72) == Some(SQLITE_MARK)
}

fn line(session: &Session) -> io::Result<String> {
    let Session {
        peer,
        ended_at,
        offset_seconds,
        window,
    } = session;
    let mut line = serde_json::to_string(&(peer, ended_at, offset_seconds, window))?;
    line.push('\n');
    Ok(line)
}

fn parse(line: &[u8]) -> io::Result<Session> {
    let parsed: Line = serde_json::from_slice(line).map_err(|cause| {
        let text = String::from_utf8_lossy(line);
        let reason = format!("damaged: {:?}: {cause}", text.trim_end());
        io::Error::new(io::ErrorKind::InvalidData, reason)
    })?;
    let (peer, ended_at, offset_seconds, window) = parsed;
    Ok(Session {
        peer,
        ended_at,
        offset_seconds,
        window,
    })
}

fn identity(metadata: &Metadata) -> Option<(u64, u64)> {
    Some((metadata.dev(), metadata.ino()))
}

fn file_identity(file: &File) -> Option<(u64, u64)> {
    identity(&file.metadata().ok()?)
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}
