//! Recordings of an emulated link: `airtcp emulate --record DIR`.
//!
//! ```text
//!   the link's thread                          the recorder's thread
//!   packets in and out, their fates ── channel ─▶ *.pcapng, packets.csv
//!   at the end: lost packets, stops, summary ───▶ lost-*.csv, stops.csv, summary.json
//! ```
//!
//! The link never waits for a disk: if the channel is full the recording ends, as with any other
//! error, and the link continues.

mod journal;
mod replay;
mod summary;
mod table;
mod writer;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use airtcp_host::error::{Error, Result, Tried};
use airtcp_units::Instant;

use crate::end::End;
pub use journal::{Fate, Ingress};
use journal::{Journal, Row};
pub use replay::Replay;
pub use summary::Summary;
use writer::Writer;

/// Capacity of the channel to the disk: a tenth of a second of 1 Gbit/s.
const ROOM: usize = 1 << 13;

/// A message to the recorder.
enum Message {
    /// A packet passed the interface of an end, at a time of the system clock.
    Passed {
        end: End,
        station: usize,
        is_out: bool,
        nanos: u64,
        bytes: Vec<u8>,
    },
    /// A packet's fate is known.
    Done(Row),
}

/// The recording of a running link.
#[derive(Debug)]
pub struct Recording {
    folder: PathBuf,
    journal: Journal,
    to_disk: Option<SyncSender<Message>>,
    writer: JoinHandle<Result<()>>,
    /// The system clock's time at the link's time zero, in nanoseconds since 1970.
    zero: u64,
    /// Whether the channel was full: the disk is slower than the link.
    overrun: bool,
}

impl Recording {
    /// Begins a recording in `folder`, which is created if necessary, of a link with `stations`
    /// stations and its time zero at `zero` nanoseconds after the start of 1970. At most
    /// `under_way` packets are kept while their fates are open.
    ///
    /// # Errors
    ///
    /// The folder or a file in it cannot be created.
    pub fn begin(folder: &Path, stations: usize, under_way: usize, zero: u64) -> Result<Self> {
        fs::create_dir_all(folder)
            .tried(|| format!("--record {}: cannot make the folder", folder.display()))?;
        let writer = Writer::create(folder, stations)?;
        let (to_disk, from_link) = sync_channel(ROOM);
        let writer = std::thread::Builder::new()
            .name("recorder".to_owned())
            .spawn(move || write_all(writer, &from_link))
            .tried(|| "cannot start a thread for the recording".to_owned())?;
        Ok(Self {
            folder: folder.to_owned(),
            journal: Journal::new(under_way),
            to_disk: Some(to_disk),
            writer,
            zero,
            overrun: false,
        })
    }

    /// Moves the link's time zero to `zero` nanoseconds after the start of 1970, before anything
    /// has passed.
    pub const fn begins_at(&mut self, zero: u64) {
        self.zero = zero;
    }

    /// Records that a packet entered the link at `taken.arrived`.
    pub fn taken(&mut self, taken: &Ingress, bytes: &[u8]) {
        self.pass(
            taken.from,
            usize::from(taken.station),
            true,
            taken.arrived,
            bytes,
        );
        self.journal.take(taken);
        self.hand_over();
    }

    /// Records that a packet crossed a medium, or was given up there, after `attempts` attempts.
    pub fn attempted(&mut self, number: u64, attempts: u32) {
        self.journal.attempted(number, attempts);
    }

    /// Records a packet's fate at `time`.
    pub fn ended(&mut self, number: u64, fate: Fate, time: Instant) {
        self.journal.ended(number, fate, time);
    }

    /// Records that a packet was delivered to the kernel at `to` at `time`.
    pub fn delivered(
        &mut self,
        number: u64,
        to: End,
        station: usize,
        due: Instant,
        time: Instant,
        bytes: &[u8],
    ) {
        self.pass(to, station, false, time, bytes);
        self.journal.delivered(number, due, time);
        self.hand_over();
    }

    /// Ends the recording: writes open packets, the files that a scenario can read, and `summary`.
    ///
    /// # Errors
    ///
    /// The first write that failed, here or while the link ran.
    pub fn finish(mut self, replay: &Replay, summary: &Summary) -> Result<()> {
        self.journal.close();
        while let (Some(row), Some(to_disk)) = (self.journal.next_done(), &self.to_disk) {
            // Nothing can be late any more: the disk may take its time.
            if to_disk.send(Message::Done(row)).is_err() {
                break;
            }
        }
        self.to_disk = None;
        let written = self
            .writer
            .join()
            .unwrap_or_else(|_| Err(Error::new("the thread of the recording has panicked")));
        if self.overrun {
            return Err(Error::new(format!(
                "--record {}: the disk is slower than the link, the recording ends early",
                self.folder.display()
            ))
            .remedied_by("record to a faster disk or to memory, such as a folder in /dev/shm"));
        }
        written?;
        let files = replay.write(&self.folder, self.journal.lost())?;
        summary.write(&self.folder, &files)
    }

    fn pass(&mut self, end: End, station: usize, is_out: bool, time: Instant, bytes: &[u8]) {
        self.send(Message::Passed {
            end,
            station,
            is_out,
            nanos: self.zero + time.as_nanos(),
            bytes: bytes.to_vec(),
        });
    }

    fn hand_over(&mut self) {
        while let Some(row) = self.journal.next_done() {
            self.send(Message::Done(row));
        }
    }

    /// Sends a message if there is room. After the first error nothing more is accepted; the thread
    /// has reported it.
    fn send(&mut self, message: Message) {
        let Some(to_disk) = &self.to_disk else { return };
        match to_disk.try_send(message) {
            Ok(()) => {}
            Err(std::sync::mpsc::TrySendError::Full(_)) => {
                self.overrun = true;
                self.to_disk = None;
            }
            Err(std::sync::mpsc::TrySendError::Disconnected(_)) => self.to_disk = None,
        }
    }
}

/// Writes until the link ends or a write fails.
fn write_all(mut writer: Writer, from_link: &Receiver<Message>) -> Result<()> {
    for message in from_link {
        match message {
            Message::Passed {
                end,
                station,
                is_out,
                nanos,
                bytes,
            } => writer.pass(end, station, is_out, nanos, &bytes)?,
            Message::Done(row) => writer.row(&row)?,
        }
    }
    writer.finish()
}
