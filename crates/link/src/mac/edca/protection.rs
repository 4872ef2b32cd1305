//! How a channel with older stations on it is protected.

/// How frames that older stations do not understand are announced to them (IEEE 802.11-2020
/// §10.27).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protection {
    /// A CTS to oneself, in a mode that all understand.
    CtsToSelf,
    /// RTS and CTS in such a mode.
    RtsCts,
}
