//! Messages of rtnetlink(7) about queueing disciplines: struct tcmsg of
//! include/uapi/linux/rtnetlink.h, then attributes.

use std::io;

use libc::{RTM_DELQDISC, RTM_GETQDISC, RTM_NEWQDISC};
use netlink_packet_core::{NLM_F_ACK, NLM_F_CREATE, NLM_F_DUMP, NLM_F_REPLACE};
use rustix::io::Errno;

use crate::error::{Error, Result};
use crate::interface;
use crate::netlink::frame::{append_attribute, text};
use crate::netlink::{Connection, Part};

/// TC_H_ROOT and TC_H_INGRESS of include/uapi/linux/pkt_sched.h.
pub(super) const ROOT: u32 = u32::MAX;
pub(super) const INGRESS: u32 = 0xffff_fff1;
/// TCA_KIND and TCA_OPTIONS.
pub(super) const KIND: u16 = libc::TCA_KIND;
pub(super) const OPTIONS: u16 = libc::TCA_OPTIONS;
/// Bytes of struct tcmsg.
pub(super) const MESSAGE: usize = 20;

/// struct tcmsg: family, padding, interface, handle, parent, info.
pub(super) fn message(index: u32, handle: u32, parent: u32) -> Vec<u8> {
    let fields = [0, index, handle, parent, 0];
    fields
        .iter()
        .flat_map(|field: &u32| field.to_ne_bytes())
        .collect()
}

/// Attaches a discipline to a device, below `parent`.
///
/// # Errors
///
/// There is no such device, the kernel lacks the kind, or refuses an option.
pub(super) fn attach(
    device: &str,
    parent: u32,
    handle: u32,
    kind: &str,
    options: &[u8],
) -> Result<()> {
    let mut body = message(interface::index(device)?, handle, parent);
    body.extend(text(KIND, kind));
    if !options.is_empty() {
        append_attribute(&mut body, OPTIONS, options);
    }
    exchange(
        RTM_NEWQDISC,
        NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE,
        &body,
    )
    .map(drop)
    .map_err(|cause| {
        if cause.raw_os_error() == Some(Errno::NOENT.raw_os_error()) {
            return Error::new(format!("this kernel has no queueing discipline {kind}"))
                .remedied_by(format!("it is the module sch_{kind}: modprobe sch_{kind}"));
        }
        failed(
            device,
            &format!("put queueing discipline {kind} before"),
            cause,
        )
    })
}

/// Removes the discipline that a message names.
pub(super) fn delete(body: &[u8]) -> io::Result<()> {
    exchange(RTM_DELQDISC, NLM_F_ACK, body).map(drop)
}

/// Requests all disciplines of every device; returns the bodies of the answers.
pub(super) fn dump(body: &[u8]) -> io::Result<Vec<Vec<u8>>> {
    exchange(RTM_GETQDISC, NLM_F_DUMP, body)
}

fn exchange(kind: u16, flags: u16, body: &[u8]) -> io::Result<Vec<Vec<u8>>> {
    let answers = Connection::open(Part::Route)?.exchange(kind, flags, body)?;
    Ok(answers.into_iter().map(|(_, body)| body).collect())
}

pub(super) fn failed(device: &str, what: &str, cause: io::Error) -> Error {
    Error::system(format!("cannot {what} {device}"), cause)
}
