//! Key of a session: peer, month, week of the month, day of the week and hour of the day: the
//! thesis' "time, day, week, month" (§3.3).

use chrono::{DateTime, Datelike, Timelike};

/// The cell of an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// 1 for January.
    pub month: u8,
    /// 1 for the first seven days of the month, to 5.
    pub week: u8,
    /// 1 for Monday.
    pub weekday: u8,
    /// 0 to 23.
    pub hour: u8,
}

impl Cell {
    /// The cell of `unix_seconds` with clocks `offset_seconds` ahead of UTC, by less than a day. An
    /// instant beyond the calendar belongs to its beginning.
    #[must_use]
    pub fn at(unix_seconds: i64, offset_seconds: i32) -> Self {
        const DAY: u32 = 86_400;
        let offset = if offset_seconds.unsigned_abs() < DAY {
            offset_seconds
        } else {
            0
        };
        // Read as UTC, it has the fields of the local clock.
        let local = unix_seconds
            .checked_add(offset.into())
            .and_then(|local| DateTime::from_timestamp(local, 0))
            .unwrap_or(DateTime::UNIX_EPOCH);
        Self {
            month: local.month() as u8,
            week: local.day().div_ceil(7) as u8,
            weekday: local.weekday().number_from_monday() as u8,
            hour: local.hour() as u8,
        }
    }
}

/// Required match of past sessions. From the closest on, each is tried until one has enough of
/// them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// Peer, month, week of the month, weekday and hour.
    Exact,
    /// Peer, month, weekday and hour.
    AnyWeek,
    /// Peer, weekday and hour.
    AnyMonth,
    /// Peer and hour.
    AnyDay,
    /// Peer.
    AnyTime,
}

impl Precision {
    /// From the closest to the widest.
    pub const ALL: [Self; 5] = [
        Self::Exact,
        Self::AnyWeek,
        Self::AnyMonth,
        Self::AnyDay,
        Self::AnyTime,
    ];

    /// Whether a session in the cell `past` matches the cell `now`, with the same peer.
    #[must_use]
    pub const fn matches(self, past: Cell, now: Cell) -> bool {
        let month = past.month == now.month;
        let weekday = past.weekday == now.weekday;
        let hour = past.hour == now.hour;
        match self {
            Self::Exact => month && past.week == now.week && weekday && hour,
            Self::AnyWeek => month && weekday && hour,
            Self::AnyMonth => weekday && hour,
            Self::AnyDay => hour,
            Self::AnyTime => true,
        }
    }
}
