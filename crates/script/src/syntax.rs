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

/// An event of a script.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Its line, from 1.
    pub line: usize,
    /// Its time.
    pub time: Time,
    /// For blocking calls, the time until they return.
    pub ends: Option<Duration>,
    /// The action.
    pub action: Action,
}

/// The time of an event. Relative times count from the previous event.
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
    /// Syntax without an equivalent in the endpoint.
    Unsupported(String),
}

/// A segment in a script: sequence numbers are relative to the initial ones, windows as on the
/// wire.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    pub flags: Flags,
    /// The ECN field, if given.
    pub marking: Option<Marking>,
    pub start: u32,
    pub payload: u32,
    pub ack: Option<u32>,
    pub window: Option<u16>,
    /// The options; empty if not given, any for `<...>`.
    pub options: Option<Options>,
}

/// The ECN field of a segment's IP header, as scripted.
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

/// A system call with its arguments as text, and its required result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    pub name: String,
    pub arguments: Vec<String>,
    /// Its result; `None` for `= *` and without a result.
    pub returns: Option<i64>,
    /// The name of the error, if it returns -1.
    pub error: Option<String>,
}
