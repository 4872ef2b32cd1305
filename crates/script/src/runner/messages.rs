//! `recvmsg`: data with the number of unread bytes (TCP_INQ), and from the error queue the notices
//! of zero-copy sends (MSG_ZEROCOPY).

use std::collections::VecDeque;

use super::answer::Answer;
use super::{Machine, Stop, unsupported};
use crate::parser::number;
use crate::syntax::Call;

/// Zero-copy sends, numbered from zero: each is reported once all of it is acknowledged (Linux,
/// `Documentation/networking/msg_zerocopy.rst`).
#[derive(Debug, Default)]
pub(super) struct Notices {
    /// Whether the socket requests them (SO_ZEROCOPY).
    pub wanted: bool,
    sent: u32,
    /// The number of the first send with an unreported completion.
    untold: u32,
    /// End of each send's data in the stream, from `untold` on.
    ends: VecDeque<u64>,
}

impl Notices {
    /// Records a send with data up to `end`.
    pub fn on_sent(&mut self, end: u64) {
        if self.wanted {
            self.sent += 1;
            self.ends.push_back(end);
        }
    }

    /// Number of completed sends still to be reported, with everything below `una` acknowledged.
    pub fn pending(&self, una: u64) -> u32 {
        let done = self.ends.iter().take_while(|&&end| end <= una).count();
        u32::try_from(done).unwrap_or(u32::MAX)
    }

    /// Total number of completed sends.
    pub fn done(&self, una: u64) -> u32 {
        self.untold + self.pending(una)
    }

    /// Takes the notice: the first and the last number of its sends. Consecutive sends share one.
    fn take(&mut self, una: u64) -> Option<(u32, u32)> {
        let count = self.pending(una);
        let first = self.untold;
        self.ends.drain(..count as usize);
        self.untold += count;
        (count > 0).then(|| (first, first + count - 1))
    }
}

/// The number after `name=` in a structure's text.
fn field(text: &str, name: &str) -> Option<i64> {
    let (_, rest) = text.split_once(&format!("{name}="))?;
    number(rest.split([',', '}', ']', ' ']).next()?.trim())
}

/// Sum of the lengths of a `msghdr`'s parts, as in `{..., 1000}`.
pub(super) fn parts_length(message: &str) -> i64 {
    message
        .split('{')
        .filter_map(|part| part.split_once("...,"))
        .filter_map(|(_, rest)| number(rest.split('}').next().unwrap_or_default().trim()))
        .sum()
}

impl Machine<'_> {
    pub(super) fn receive_message(&mut self, call: &Call) -> Result<Answer, Stop> {
        let argument = |index: usize| call.arguments.get(index).map_or("", String::as_str);
        let (message, flags) = (argument(1), argument(2));
        if flags.contains("MSG_ERRQUEUE") {
            return self.take_notice(message);
        }
        if flags != "0" {
            return unsupported(format!("recvmsg with {flags}"));
        }
        let answer = self.read(&Call {
            arguments: vec![
                String::new(),
                String::new(),
                parts_length(message).to_string(),
            ],
            ..call.clone()
        });
        if message.contains("TCP_CM_INQ") && matches!(answer, Answer::Value(_)) {
            self.compare_field(message, "cmsg_data", i64::from(self.bytes_waiting()))?;
        } else if message.contains("cmsg_level") {
            return unsupported("recvmsg with other control messages than TCP_CM_INQ");
        }
        Ok(answer)
    }

    /// Number of unread bytes. After the last there may be the end, which counts as another read
    /// (Linux, `tcp_inq_hint`).
    fn bytes_waiting(&self) -> u32 {
        let Some(connection) = &self.connection else {
            return 0;
        };
        let receiver = connection.receiver();
        let waiting = receiver.received() - receiver.read_so_far();
        let end = u64::from(receiver.is_finished());
        u32::try_from(waiting.max(end)).unwrap_or(u32::MAX)
    }

    fn take_notice(&mut self, message: &str) -> Result<Answer, Stop> {
        let una = self.acknowledged();
        let Some((first, last)) = self.notices.take(una) else {
            return Ok(Answer::Error("EAGAIN"));
        };
        if !message.contains("SO_EE_ORIGIN_ZEROCOPY") {
            return unsupported("recvmsg of an error queue with other origins than zero copy");
        }
        self.compare_field(message, "ee_info", i64::from(first))?;
        self.compare_field(message, "ee_data", i64::from(last))?;
        Ok(Answer::Value(0))
    }

    /// The first unacknowledged byte.
    pub(super) fn acknowledged(&self) -> u64 {
        let connection = self.connection.as_ref();
        connection.map_or(0, |connection| connection.sender().una())
    }

    fn compare_field(&self, message: &str, name: &str, found: i64) -> Result<(), Stop> {
        match field(message, name) {
            Some(expected) if expected != found => Err(Stop::Failed(self.exchange.compare(
                &format!("recvmsg(): {name} differs"),
                &expected.to_string(),
                &found.to_string(),
            ))),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of three sends the first two are acknowledged: one notice of both, then one of the third.
    #[test]
    fn neighbours_share_a_notice() {
        let mut notices = Notices {
            wanted: true,
            ..Notices::default()
        };
        for end in [4000, 8000, 12_000] {
            notices.on_sent(end);
        }
        assert_eq!(notices.take(3999), None);
        assert_eq!((notices.pending(8000), notices.done(8000)), (2, 2));
        assert_eq!(notices.take(8000), Some((0, 1)));
        assert_eq!(notices.take(8000), None);
        assert_eq!((notices.pending(12_000), notices.done(12_000)), (1, 3));
        assert_eq!(notices.take(12_000), Some((2, 2)));
    }

    #[test]
    fn a_message_has_fields_and_parts() {
        let message = "{msg_iov(2)=[{..., 1000}, {...,24}], msg_control=[{cmsg_data={ee_info=3,\n \
                       ee_data=4}}]}";
        assert_eq!(parts_length(message), 1024);
        assert_eq!(field(message, "ee_info"), Some(3));
        assert_eq!(field(message, "ee_data"), Some(4));
        assert_eq!(field(message, "ee_code"), None);
    }
}
