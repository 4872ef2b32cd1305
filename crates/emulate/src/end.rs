//! The two kinds of ends of an emulated link.

/// An end of the emulated link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// A station's end, by number.
    Station(usize),
    /// The server's end.
    Server,
}
