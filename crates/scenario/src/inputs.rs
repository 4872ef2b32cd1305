//! The files that a scenario names, read once.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use airtcp_link::trace::MAX_BYTES;
use airtcp_link::{
    Conditions, LightTrace, LostPackets, MahimahiTrace, RttSeries, StopList, TraceError,
};
use sha2::{Digest, Sha256};

use super::control;
use super::document::Document;
use super::document::keys::Slot;
use super::error::Problem;

/// A file's content.
#[derive(Clone, Debug)]
pub(crate) struct Recording<T> {
    /// The recording.
    pub content: Arc<T>,
    /// Path of the file.
    pub path: PathBuf,
}

/// Location of a scenario's files.
pub(crate) enum Files<'a> {
    /// On disk; names are relative to this folder.
    In(&'a Path),
    /// In memory, by the key that names them.
    Given(&'a BTreeMap<String, Arc<[u8]>>),
    /// In memory, by the name that the scenario gives them.
    Named(&'a BTreeMap<String, Arc<[u8]>>),
}

impl Files<'_> {
    /// The folder to which names are relative.
    pub fn folder(&self) -> &Path {
        match self {
            Files::In(folder) => folder,
            Files::Given(_) | Files::Named(_) => Path::new(""),
        }
    }
}

/// Contents of the files of one scenario.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inputs {
    /// The files themselves, by the key that names them.
    pub files: BTreeMap<String, Arc<[u8]>>,
    /// SHA-256 of each, in hexadecimal, by the name that the scenario gives it.
    pub digests: BTreeMap<String, String>,
    /// `link.trace.down`.
    pub down: Option<Recording<MahimahiTrace>>,
    /// `link.trace.up`.
    pub up: Option<Recording<MahimahiTrace>>,
    /// `link.trace.light.down` and `link.trace.light.up`.
    pub light: [Option<Recording<LightTrace>>; 2],
    /// `link.rtt_log.path`.
    pub rtt_log: Option<Recording<RttSeries>>,
    /// `link.stops.path`.
    pub stops: Option<Recording<StopList>>,
    /// `link.recorded.path` and `link.reverse.recorded.path`.
    pub recorded: [Option<Recording<Conditions>>; 2],
    /// `link.lost_packets.path` and `link.reverse.lost_packets.path`.
    pub lost_packets: [Option<Recording<LostPackets>>; 2],
}

impl Inputs {
    /// Reads every file that `document` names.
    pub fn read(document: &Document, from: &Files<'_>) -> Result<Self, Problem> {
        let mut reader = Reader {
            from,
            files: BTreeMap::new(),
            digests: BTreeMap::new(),
        };
        let inputs = Self::read_all(document, &mut reader)?;
        reader.read_controls(document)?;
        Ok(Self {
            files: reader.files,
            digests: reader.digests,
            ..inputs
        })
    }

    fn read_all(document: &Document, reader: &mut Reader<'_>) -> Result<Self, Problem> {
        /// Reads the file that a key names, if it is given.
        macro_rules! read {
            ($($step:ident).+, $parse:expr) => {
                reader.read(key!($($step).+), field!(document, $($step).+), $parse)?
            };
        }
        Ok(Self {
            files: BTreeMap::new(),
            digests: BTreeMap::new(),
            stops: read!(link.stops.path, StopList::parse),
            recorded: [
                read!(link.recorded.path, Conditions::parse),
                read!(link.reverse.recorded.path, Conditions::parse),
            ],
            lost_packets: [
                read!(link.lost_packets.path, LostPackets::parse),
                read!(link.reverse.lost_packets.path, LostPackets::parse),
            ],
            down: read!(link.trace.down, MahimahiTrace::parse),
            up: read!(link.trace.up, MahimahiTrace::parse),
            light: [
                read!(link.trace.light.down, LightTrace::parse),
                read!(link.trace.light.up, LightTrace::parse),
            ],
            rtt_log: read!(link.rtt_log.path, RttSeries::parse),
        })
    }
}

impl Inputs {
    /// Whether a list or a recording has the losses of a direction: 0 is that of data. A recording
    /// of data applies to both directions, as its delays do.
    pub fn has_losses(&self, direction: usize) -> bool {
        self.lost_packets[direction].is_some() || self.recorded_losses(direction).is_some()
    }

    /// The recording with the losses of a direction.
    pub fn recorded_losses(&self, direction: usize) -> Option<&Recording<Conditions>> {
        let recorded = self.recorded[direction].as_ref();
        let recorded = recorded.or(self.recorded[0].as_ref());
        recorded.filter(|file| file.content.loses())
    }
}

/// Reads files, and keeps them.
struct Reader<'a> {
    from: &'a Files<'a>,
    files: BTreeMap<String, Arc<[u8]>>,
    digests: BTreeMap<String, String>,
}

impl Reader<'_> {
    /// Reads the object files of congestion controls. A flow's own table without one has that
    /// of `[tcp]`.
    fn read_controls(&mut self, document: &Document) -> Result<(), Problem> {
        let common = control::object_of(&document.tcp).map(|control| &control.bpf);
        self.keep(&control::file_key(key!(tcp)), common)?;
        let own = document.flows.tcp.as_deref().unwrap_or_default();
        for (position, table) in own.iter().enumerate() {
            let named = control::object_of(table).map(|control| &control.bpf);
            let common = common.filter(|_| table.congestion.is_none());
            let key = control::file_key(&format!("flows.tcp[{position}]"));
            self.keep(&key, named.or(common))?;
        }
        Ok(())
    }

    /// Reads a file, only for its bytes; of a source, the bytes of the object file.
    fn keep(&mut self, key: &str, path: Option<&String>) -> Result<(), Problem> {
        if let (Some(path), Files::In(folder)) = (path, self.from)
            && path.ends_with(".c")
        {
            let object = airtcp_remedies::bpf::compiled(&folder.join(path));
            let bytes = object.and_then(|object| read_bounded(&object, MAX_BYTES));
            let bytes = bytes.map_err(|reason| Problem::at(key, reason))?;
            self.insert(key, path, bytes.into());
            return Ok(());
        }
        self.read(key, path.map(|path| Some(path.clone())).as_ref(), |_, _| {
            Ok(())
        })
        .map(drop)
    }

    fn insert(&mut self, key: &str, path: &str, bytes: Arc<[u8]>) {
        let digest = format!("{:x}", HexDigest(Sha256::digest(&bytes).as_slice()));
        self.files.insert(key.to_owned(), bytes);
        self.digests.insert(path.to_owned(), digest);
    }

    fn read<T>(
        &mut self,
        key: &str,
        path: Option<&impl Slot<Value = String>>,
        parse: fn(&[u8], &str) -> Result<T, TraceError>,
    ) -> Result<Option<Recording<T>>, Problem> {
        let Some(path) = path.and_then(Slot::get) else {
            return Ok(None);
        };
        if path.is_empty() {
            return Err(Problem::at(key, "expected the name of a file"));
        }
        let (place, bytes) = match self.from {
            Files::In(folder) => {
                let place = folder.join(path);
                let bytes = read_bounded(&place, MAX_BYTES);
                (place, bytes.map(Into::into))
            }
            Files::Given(files) => {
                let missing = || "the scenario came without its file".to_owned();
                let bytes = files.get(key).cloned().ok_or_else(missing);
                (PathBuf::from(path), bytes)
            }
            Files::Named(files) => {
                let missing = || "the scenario came without this file".to_owned();
                let bytes = files.get(path).cloned().ok_or_else(missing);
                (PathBuf::from(path), bytes)
            }
        };
        let bytes: Arc<[u8]> = bytes.map_err(|reason| Problem::at(key, reason))?;
        let content = parse(&bytes, path)
            .map_err(|error| Problem::at(key, format!("{}", Located(&error))))?;
        self.insert(key, path, bytes);
        Ok(Some(Recording {
            content: Arc::new(content),
            path: place,
        }))
    }
}

/// A trace's error without the file's name, which is already the key's value.
struct Located<'a>(&'a TraceError);

impl std::fmt::Display for Located<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0.line {
            Some(line) => write!(f, "line {line} of the file: {}", self.0.problem),
            None => self.0.problem.fmt(f),
        }
    }
}

/// Bytes in lower-case hexadecimal.
pub(crate) struct HexDigest<'a>(pub &'a [u8]);

impl std::fmt::LowerHex for HexDigest<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Reads a file of at most `most` bytes. Errors name the problem with the file.
pub(crate) fn read_bounded(path: &Path, most: u64) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    // Opening a pipe blocks until it has a writer, and a device may never end.
    match path.metadata() {
        Ok(about) if about.is_dir() => return Err("is a folder; expected a file".to_owned()),
        Ok(about) if !about.is_file() => {
            return Err("is a pipe or a device; expected a file: save it as one first".to_owned());
        }
        Ok(_) => File::open(path),
        Err(error) => Err(error),
    }
    .and_then(|file| file.take(most + 1).read_to_end(&mut bytes))
    .map_err(|error| format!("cannot be read ({error}); check that it exists"))?;
    if bytes.len() as u64 > most {
        return Err(format!(
            "larger than {} MiB; check that this is the right file",
            most >> 20
        ));
    }
    Ok(bytes)
}
