//! The fate of each packet, from the time at which it enters the link.

use std::collections::VecDeque;

use airtcp_link::Transmission;
use airtcp_units::Instant;

use crate::end::End;

/// The fate of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It arrived at the other end.
    Delivered,
    /// The link lost it: by its error model, or after the last attempt.
    Lost,
    /// A queue had no room for it, or its discipline dropped it.
    Dropped,
    /// It arrived, but the kernel's queue refused it.
    Refused,
    /// It was still in flight when the recording ended.
    UnderWay,
}

impl Fate {
    /// The name in the column `fate`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Delivered => "delivered",
            Self::Lost => "lost",
            Self::Dropped => "dropped",
            Self::Refused => "refused",
            Self::UnderWay => "under way",
        }
    }
}

/// A packet as it enters the link.
#[derive(Clone, Copy, Debug)]
pub struct Ingress {
    /// Its number among all packets, from 1.
    pub number: u64,
    /// Its flow.
    pub flow: u32,
    /// Its index among the packets of its flow and direction, from 0; [`Transmission::UNNUMBERED`]
    /// for a pure acknowledgment that ends a handshake.
    pub index: u64,
    /// Index of the station of its line.
    pub station: u16,
    /// The end that it came from.
    pub from: End,
    /// Whether it takes the path of the scenario's data.
    pub is_data: bool,
    /// Whether it is a TCP segment.
    pub is_tcp: bool,
    /// Size of the IP packet.
    pub bytes: u32,
    /// Its arrival time.
    pub arrived: Instant,
    /// Number of packets that waited on its path at that time.
    pub queued: u32,
}

/// A packet with a known fate.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Its description.
    pub taken: Ingress,
    /// Attempts on media; zero if it crossed no medium.
    pub attempts: u32,
    /// Time at which it left the link, was lost, or dropped.
    pub left: Option<Instant>,
    /// Time at which the kernel received it.
    pub delivered: Option<Instant>,
    /// Its fate; the first one if agents repeated it.
    pub fate: Fate,
}

/// Packets with open fates, and completed ones waiting for an earlier one.
#[derive(Debug)]
pub struct Journal {
    rows: VecDeque<Row>,
    room: usize,
    closed: bool,
    /// Packets lost by the link: (the data's direction, flow, index).
    lost: Vec<(bool, u32, u64)>,
}

impl Journal {
    /// Creates a journal that keeps at most `room` packets open.
    pub fn new(room: usize) -> Self {
        Self {
            rows: VecDeque::new(),
            room: room.max(1),
            closed: false,
            lost: Vec::new(),
        }
    }

    /// Records that a packet entered the link. Numbers are consecutive.
    pub fn take(&mut self, taken: &Ingress) {
        self.rows.push_back(Row {
            taken: *taken,
            attempts: 0,
            left: None,
            delivered: None,
            fate: Fate::UnderWay,
        });
    }

    /// Records this many more attempts of a packet.
    pub fn attempted(&mut self, number: u64, attempts: u32) {
        if let Some(row) = self.row(number) {
            row.attempts = row.attempts.saturating_add(attempts);
        }
    }

    /// Records a packet's fate, unless it is already known.
    pub fn ended(&mut self, number: u64, fate: Fate, time: Instant) {
        let Some(row) = self.row(number).filter(|row| row.fate == Fate::UnderWay) else {
            return;
        };
        row.fate = fate;
        row.left = Some(time);
        let taken = row.taken;
        if fate == Fate::Lost && taken.index != Transmission::UNNUMBERED {
            self.lost.push((taken.is_data, taken.flow, taken.index));
        }
    }

    /// Records that a packet that was due at `due` was delivered at `time`.
    pub fn delivered(&mut self, number: u64, due: Instant, time: Instant) {
        self.ended(number, Fate::Delivered, due);
        if let Some(row) = self.row(number)
            && row.fate == Fate::Delivered
        {
            row.delivered.get_or_insert(time);
        }
    }

    /// Closes the journal: open packets stay open.
    pub fn close(&mut self) {
        self.closed = true;
    }

    /// The next completed packet, in order of arrival.
    pub fn next_done(&mut self) -> Option<Row> {
        let first = self.rows.front()?;
        let is_done = first.fate != Fate::UnderWay || self.closed || self.rows.len() > self.room;
        if is_done { self.rows.pop_front() } else { None }
    }

    /// Packets lost by the link so far: whether in the data's direction, flow, and index.
    pub fn lost(&self) -> &[(bool, u32, u64)] {
        &self.lost
    }

    fn row(&mut self, number: u64) -> Option<&mut Row> {
        let first = self.rows.front()?.taken.number;
        let place = usize::try_from(number.checked_sub(first)?).ok()?;
        self.rows.get_mut(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(number: u64) -> Ingress {
        Ingress {
            number,
            flow: 3,
            index: number - 1,
            station: 0,
            from: End::Station(0),
            is_data: true,
            is_tcp: true,
            bytes: 1500,
            arrived: Instant::from_nanos(number),
            queued: 0,
        }
    }

    #[test]
    fn packets_leave_the_journal_in_the_order_in_which_they_came() {
        let mut journal = Journal::new(10);
        for number in 1..=3 {
            journal.take(&taken(number));
        }
        journal.ended(2, Fate::Lost, Instant::from_nanos(9));
        assert!(journal.next_done().is_none(), "the first is open");
        journal.attempted(1, 4);
        journal.delivered(1, Instant::from_nanos(20), Instant::from_nanos(21));
        let first = journal.next_done().unwrap();
        assert_eq!((first.taken.number, first.attempts), (1, 4));
        assert_eq!(first.left, Some(Instant::from_nanos(20)));
        assert_eq!(first.delivered, Some(Instant::from_nanos(21)));
        assert_eq!(journal.next_done().unwrap().fate, Fate::Lost);
        assert!(journal.next_done().is_none());
        journal.close();
        assert_eq!(journal.next_done().unwrap().fate, Fate::UnderWay);
        assert_eq!(journal.lost(), [(true, 3, 1)]);
    }

    /// A copy sent by an agent does not change the first one's fate.
    #[test]
    fn the_first_fate_counts() {
        let mut journal = Journal::new(10);
        journal.take(&taken(1));
        journal.ended(1, Fate::Lost, Instant::from_nanos(5));
        journal.delivered(1, Instant::from_nanos(7), Instant::from_nanos(8));
        let row = journal.next_done().unwrap();
        assert_eq!((row.fate, row.delivered), (Fate::Lost, None));
        // Its row has been taken.
        journal.delivered(1, Instant::from_nanos(9), Instant::from_nanos(9));
        assert!(journal.next_done().is_none());
    }

    #[test]
    fn no_more_are_kept_open_than_there_is_room() {
        let mut journal = Journal::new(2);
        for number in 1..=3 {
            journal.take(&taken(number));
        }
        assert_eq!(journal.next_done().unwrap().fate, Fate::UnderWay);
        assert!(journal.next_done().is_none());
    }
}
