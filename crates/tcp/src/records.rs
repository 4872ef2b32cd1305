//! Records in a stream: no segment holds bytes of two of them (MSG_EOR).

use alloc::collections::VecDeque;

use crate::Connection;

/// The data written and the ends of records in it. The connection learns of nothing after the end
/// of the first unsent record.
#[derive(Clone, Debug, Default)]
pub struct Records {
    /// Ends of the records not yet sent, as offsets.
    ends: VecDeque<u64>,
    /// Bytes written, of all records.
    written: u64,
    /// A FIN is to follow them.
    is_closed: bool,
}

impl Records {
    /// Writes `bytes` more.
    pub fn write(&mut self, connection: &mut Connection, bytes: u64) {
        if bytes == 0 {
            return;
        }
        self.written += bytes;
        if self.ends.is_empty() {
            connection.write(bytes);
        } else {
            connection.set_followed(true);
        }
    }

    /// Bytes written, of all records.
    #[must_use]
    pub const fn written(&self) -> u64 {
        self.written
    }

    /// Ends the record at the data written so far. Has no effect on data already sent.
    pub fn end(&mut self, connection: &Connection) {
        let has_left = connection.sender().nxt() >= self.written;
        if !has_left && self.ends.back() != Some(&self.written) {
            self.ends.push_back(self.written);
        }
    }

    /// Nothing more will be written: a FIN follows the last record.
    pub fn close(&mut self, connection: &mut Connection) {
        self.is_closed = true;
        if self.ends.is_empty() {
            connection.close();
        }
    }

    /// Passes the next record to the connection, once the previous one has been sent. Returns
    /// whether it did: there may be more to [poll](Connection::poll) then.
    pub fn next(&mut self, connection: &mut Connection) -> bool {
        let Some(&end) = self.ends.front() else {
            return false;
        };
        if connection.sender().nxt() < end {
            return false;
        }
        self.ends.pop_front();
        let until = self.ends.front().map_or(self.written, |&end| end);
        if until > end {
            connection.write(until - end);
        }
        connection.set_followed(until < self.written);
        if self.ends.is_empty() && self.is_closed {
            connection.close();
        }
        true
    }

    /// Stops separating records: the connection learns of all data written.
    pub fn join(&mut self, connection: &mut Connection) {
        if let Some(end) = self.ends.front() {
            connection.write(self.written - end);
            connection.set_followed(false);
            self.ends.clear();
            if self.is_closed {
                connection.close();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use airtcp_packet::{Flags, Segment, SequenceNumber};
    use airtcp_units::Instant;

    use super::*;
    use crate::Config;

    /// An open connection with segments of 1000 bytes, on which small ones wait (`nagle`) or not.
    fn open(nagle: bool) -> Connection {
        let config = Config {
            mss: 1000,
            nagle,
            ..Config::default()
        };
        let mut connection = Connection::connect(&config, SequenceNumber(0));
        connection.poll(Instant::ZERO);
        let answer = Segment {
            acknowledgment: SequenceNumber(1),
            flags: Flags::SYN | Flags::ACK,
            window: u16::MAX,
            mss: Some(1000),
            ..Segment::default()
        };
        connection.handle(Instant::ZERO, &answer, &mut ());
        while connection.poll(Instant::ZERO).is_some() {}
        connection
    }

    /// The payloads sent now, and whether a FIN is.
    fn leaving(connection: &mut Connection, records: &mut Records) -> (Vec<u32>, bool) {
        let (mut payloads, mut is_closed) = (Vec::new(), false);
        loop {
            let Some(segment) = connection.poll(Instant::ZERO) else {
                if records.next(connection) {
                    continue;
                }
                return (payloads, is_closed);
            };
            payloads.push(segment.payload_bytes);
            is_closed |= segment.flags.contains(Flags::FIN);
        }
    }

    #[test]
    fn a_segment_holds_bytes_of_one_record() {
        let (mut connection, mut records) = (open(false), Records::default());
        for bytes in [400, 400, 1500] {
            records.write(&mut connection, bytes);
            records.end(&connection);
            // A repeated end has no effect.
            records.end(&connection);
        }
        records.write(&mut connection, 100);
        records.write(&mut connection, 100);
        records.close(&mut connection);
        let (payloads, is_closed) = leaving(&mut connection, &mut records);
        assert_eq!(payloads, [400, 400, 1000, 500, 200]);
        assert!(is_closed);
    }

    /// Later data cannot fill a segment that another record follows: only the last of all waits.
    #[test]
    fn a_small_end_of_a_record_waits_for_nothing() {
        let (mut connection, mut records) = (open(true), Records::default());
        for _ in 0..3 {
            records.write(&mut connection, 400);
            records.end(&connection);
        }
        assert_eq!(leaving(&mut connection, &mut records).0, [400, 400]);
        records.write(&mut connection, 400);
        assert_eq!(leaving(&mut connection, &mut records).0, [400]);
    }

    #[test]
    fn an_end_of_what_has_left_is_none() {
        let (mut connection, mut records) = (open(false), Records::default());
        records.write(&mut connection, 400);
        assert_eq!(leaving(&mut connection, &mut records).0, [400]);
        records.end(&connection);
        assert!(!records.next(&mut connection));
        records.write(&mut connection, 400);
        assert_eq!(leaving(&mut connection, &mut records).0, [400]);
    }

    #[test]
    fn joined_records_share_segments() {
        let (mut connection, mut records) = (open(false), Records::default());
        for _ in 0..3 {
            records.write(&mut connection, 400);
            records.end(&connection);
        }
        assert_eq!(connection.sender().written(), 400);
        records.join(&mut connection);
        assert_eq!(connection.sender().written(), 1200);
        records.close(&mut connection);
        assert_eq!(
            leaving(&mut connection, &mut records),
            (vec![1000, 200], true)
        );
    }

    #[test]
    fn joined_records_are_followed_by_the_end_that_was_to_come() {
        let (mut connection, mut records) = (open(false), Records::default());
        for _ in 0..2 {
            records.write(&mut connection, 400);
            records.end(&connection);
        }
        records.close(&mut connection);
        records.join(&mut connection);
        assert_eq!(leaving(&mut connection, &mut records), (vec![800], true));
    }
}
