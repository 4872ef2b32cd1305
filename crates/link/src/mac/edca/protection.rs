//! Protection on a channel with older stations.

/// The announcement of frames that older stations do not understand (IEEE 802.11-2020 §10.27).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protection {
    /// CTS-to-self, in a mode that all understand.
    CtsToSelf,
    /// RTS and CTS in such a mode.
    RtsCts,
}
