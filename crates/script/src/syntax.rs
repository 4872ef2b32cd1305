//! A script as data.

use airtcp_packet::{Ecn, FastOpen, Flags, SackBlock};
use airtcp_units::Duration;

/// A script.
#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    /// Its name, for messages.
    pub name: String,
    /// Lines that begin with `--`: name, value, line.
    pub options: Vec<(String, String, usize)>,
    /// The events, in order.
    pub events: Vec<Event>,
}

/// Something that happens, or must.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// The line it stands on, from 1.
    pub line: usize,
    /// When.
    pub time: Time,
    /// For calls that block: until when they return.
    pub ends: Option<Duration>,
    /// What.
    pub action: Action,
}

/// When something happens. Relative times count from the event before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Time {
    /// Since the script began.
    Absolute(Duration),
    /// Since the event before.
    Relative(Duration),
    /// Between two times since the script began.
    AbsoluteRange(Duration, Duration),
    /// Between two times since the event before.
    RelativeRange(Duration, Duration),
    /// At any time.
    Any,
}

/// An event.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// A segment arrives.
    Arrives(Packet),
    /// A segment must leave.
    Leaves(Packet),
    /// The application makes a call.
    Call(Call),
    /// A shell command, in backquotes.
    Command(String),
    /// Python, in `%{ }%`.
    Code(String),
    /// Something of the language that the endpoint has no counterpart of.
    Unsupported(String),
}

/// A segment as it is written: sequence numbers are relative to the initial ones, windows as on the
/// wire.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    pub flags: Flags,
    /// The ECN field, where it is written.
    pub marking: Option<Marking>,
    pub start: u32,
    pub payload: u32,
    pub ack: Option<u32>,
    pub window: Option<u16>,
    /// The options; none where they are not named, any where `<...>` stands.
    pub options: Option<Options>,
}

/// The ECN field of a segment's IP header as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marking {
    /// `[noecn]`, `[ect0]`, `[ect1]`, `[ce]`.
    Is(Ecn),
    /// `[ect01]`: either code point of a sender that understands marks.
    Capable,
}

/// The options of a segment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// `<...>`: any options match.
    pub any: bool,
    pub mss: Option<u16>,
    pub window_scale: Option<u8>,
    pub sack_permitted: bool,
    /// Value and echo.
    pub timestamps: Option<(u32, u32)>,
    pub sack: Vec<SackBlock>,
    pub fast_open: Option<FastOpen>,
}

/// A system call with its arguments as text, and what it must return.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    pub name: String,
    pub arguments: Vec<String>,
    /// Its result; none for `= *` and where nothing stands.
    pub returns: Option<i64>,
    /// The name of the error, where it returns -1.
    pub error: Option<String>,
}
