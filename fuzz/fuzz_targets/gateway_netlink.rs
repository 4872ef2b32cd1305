//! Messages of the kernel's packet queue: no bytes make the reader panic, and every part of a
//! packet lies within the bytes it was given.
#![no_main]

use airtcp_gateway::sockets::netlink::{Message, Verdict, Writer, messages};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut writer = Writer::default();
    for message in messages(bytes) {
        let Message::Queued(packet) = message else {
            continue;
        };
        assert!(bytes.as_ptr_range().contains(&packet.bytes.as_ptr()) || packet.bytes.is_empty());
        writer.verdict(packet.queue, packet.id, Verdict::PassChanged(packet.bytes));
        writer.pass_up_to(packet.queue, packet.id);
    }
    // The output consists of whole messages without any packet.
    assert!(writer.bytes().len().is_multiple_of(4));
    assert_eq!(messages(writer.bytes()).count(), 0);
});
