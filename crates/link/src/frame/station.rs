//! Numbers of stations: the same on every medium.

/// The station that is the access point or the base station. Mobiles are numbered from 1.
pub const ACCESS_POINT: u32 = 0;
/// The mobile of a link that has one.
pub const MOBILE: u32 = 1;
