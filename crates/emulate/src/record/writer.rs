//! The files of a recording while the link runs.

use std::io;
use std::path::{Path, PathBuf};

use airtcp_host::error::{Error, Result};
use airtcp_host::pcapng::Capture;

use super::journal::Row;
use super::table::Table;
use crate::end::End;

/// The program named in the captures.
const PROGRAM: &str = "airtcp emulate";

/// The captures of both ends, and the table of packets.
pub struct Writer {
    folder: PathBuf,
    stations: Capture,
    server: Capture,
    packets: Table,
}

/// The packets of the stations' ends.
pub const STATIONS: &str = "stations.pcapng";
/// The packets of the server's end.
pub const SERVER: &str = "server.pcapng";
/// The link's treatment of each packet.
pub const PACKETS: &str = "packets.csv";

impl Writer {
    /// Creates the files in `folder`, replacing older ones.
    ///
    /// # Errors
    ///
    /// One of them cannot be written.
    pub fn create(folder: &Path, stations: usize) -> Result<Self> {
        let names = |name: &str| -> Vec<String> {
            (0..stations)
                .map(|station| format!("{name}{station}"))
                .collect()
        };
        let path = |name: &str| folder.join(name);
        Ok(Self {
            stations: Capture::create(&path(STATIONS), PROGRAM, &names("station"))
                .map_err(|error| failed(folder, STATIONS, error))?,
            server: Capture::create(&path(SERVER), PROGRAM, &names("link"))
                .map_err(|error| failed(folder, SERVER, error))?,
            packets: Table::create(&path(PACKETS))
                .map_err(|error| failed(folder, PACKETS, error))?,
            folder: folder.to_owned(),
        })
    }

    /// Writes a packet that left or entered by an end's interface.
    ///
    /// # Errors
    ///
    /// The disk refuses it.
    pub fn pass(
        &mut self,
        end: End,
        station: usize,
        is_out: bool,
        nanos: u64,
        bytes: &[u8],
    ) -> Result<()> {
        let (capture, name) = match end {
            End::Station(_) => (&mut self.stations, STATIONS),
            End::Server => (&mut self.server, SERVER),
        };
        let interface = u32::try_from(station).unwrap_or(u32::MAX);
        capture
            .write(interface, is_out, nanos, bytes)
            .map_err(|error| failed(&self.folder, name, error))
    }

    /// Writes a packet with a known fate.
    ///
    /// # Errors
    ///
    /// The disk refuses it.
    pub fn row(&mut self, row: &Row) -> Result<()> {
        self.packets
            .write(row)
            .map_err(|error| failed(&self.folder, PACKETS, error))
    }

    /// Writes out the buffer.
    ///
    /// # Errors
    ///
    /// The disk refuses it.
    pub fn finish(self) -> Result<()> {
        let folder = &self.folder;
        self.stations
            .finish()
            .map_err(|error| failed(folder, STATIONS, error))?;
        self.server
            .finish()
            .map_err(|error| failed(folder, SERVER, error))?;
        self.packets
            .finish()
            .map_err(|error| failed(folder, PACKETS, error))
    }
}

/// The error for a file of a recording, with a remedy.
pub fn failed(folder: &Path, name: &str, error: io::Error) -> Error {
    let path = folder.join(name);
    let remedy = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            Some("free some space, or record to another disk")
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            Some("choose a folder that you may write to")
        }
        _ => None,
    };
    let error = Error::system(format!("--record: cannot write {}", path.display()), error);
    match remedy {
        Some(remedy) => error.remedied_by(remedy),
        None => error,
    }
}
