//! `recvmsg`: data with the number of unread bytes (TCP_INQ), and from the error queue the notices
//! of zero-copy sends (MSG_ZEROCOPY).

use super::Machine;
use super::made::{Difference, Made, Returned};
use super::reading::read_once;
use super::stop::{Stop, unsupported};
use crate::parser::number;
use crate::posix::constants::{MSG_ERRQUEUE, value};
use crate::syntax::Call;

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
        .fold(0, i64::saturating_add)
}

/// The difference of a field from the scripted one, if the script has it.
fn difference(message: &str, name: &str, found: i64) -> Option<Difference> {
    let expected = field(message, name).filter(|&expected| expected != found)?;
    Some(Difference {
        what: format!("recvmsg(): {name} differs"),
        expected: expected.to_string(),
        found: found.to_string(),
    })
}

impl Machine<'_> {
    pub(super) fn receive_message(&self, call: &Call) -> Result<Made, Stop> {
        let arguments = self.arguments(call);
        let one = arguments.descriptor(0);
        let (message, flags) = (arguments.text(1).to_owned(), arguments.text(2));
        if value(flags).is_some_and(|flags| flags & i64::from(MSG_ERRQUEUE) != 0) {
            let is_known = message.contains("SO_EE_ORIGIN_ZEROCOPY") || call.returns == Some(-1);
            if !is_known {
                return unsupported("recvmsg of an error queue with other origins than zero copy");
            }
            return Ok(Made::at_once(move |sockets| {
                let (first, last) = sockets.take_notice(one)?;
                let first = difference(&message, "ee_info", first.into());
                Ok(Returned {
                    value: 0,
                    difference: first.or_else(|| difference(&message, "ee_data", last.into())),
                })
            }));
        }
        if flags != "0" {
            return unsupported(format!("recvmsg with {flags}"));
        }
        let most = parts_length(&message);
        let has_queue = message.contains("TCP_CM_INQ");
        if !has_queue && message.contains("cmsg_level") {
            return unsupported("recvmsg with other control messages than TCP_CM_INQ");
        }
        Ok(Made::waiting(move |sockets| {
            let read = read_once(sockets, one, most, 0);
            read.map_ok(|count| {
                let left = sockets.queued(one).filter(|_| has_queue);
                Returned {
                    value: i64::try_from(count).unwrap_or(i64::MAX),
                    difference: left
                        .and_then(|left| difference(&message, "cmsg_data", left.into())),
                }
            })
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
