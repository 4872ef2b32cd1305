//! recvmsg: data and control messages.

use std::ffi::c_int;
use std::slice;

use libc::{msghdr, ssize_t};

use super::User;
use crate::machine::machine;
use crate::memory::{nothing, pieces, read_into, said};

/// Of headers newer than libc's (include/uapi/linux/tcp.h).
const TCP_CM_INQ: c_int = 36;
/// A completed send with its data copied after all (include/uapi/linux/errqueue.h).
const SO_EE_ORIGIN_ZEROCOPY: u8 = 5;
const SO_EE_CODE_ZEROCOPY_COPIED: u8 = 1;
/// `struct sock_extended_err` with the offender's address, which is empty.
const NOTICE_BYTES: usize = 32;

pub(super) extern "C" fn recvmsg(
    _: User,
    fd: c_int,
    message: *mut msghdr,
    flags: c_int,
) -> ssize_t {
    if flags & libc::MSG_ERRQUEUE != 0 {
        return take_notice(fd, message);
    }
    // SAFETY: packetdrill hands in a message header that it has filled.
    let (from, count) = unsafe { ((*message).msg_iov, (*message).msg_iovlen) };
    let answer = read_into(fd, pieces(from, count), flags);
    let left = machine().ask(|sockets| sockets.queued(fd));
    let left = left.filter(|_| answer.is_ok());
    let data = left.map(i32::to_ne_bytes);
    let control = data
        .as_ref()
        .map(|data| (libc::SOL_TCP, TCP_CM_INQ, &data[..]));
    put_control(message, 0, control);
    said(answer)
}

/// Reads from the error queue: a notice of zero-copy sends.
fn take_notice(fd: c_int, message: *mut msghdr) -> ssize_t {
    let notice = machine().call(|sockets| sockets.take_notice(fd));
    let data = notice.map(|(first, last)| {
        let mut data = [0; NOTICE_BYTES];
        (data[4], data[6]) = (SO_EE_ORIGIN_ZEROCOPY, SO_EE_CODE_ZEROCOPY_COPIED);
        data[8..12].copy_from_slice(&first.to_ne_bytes());
        data[12..16].copy_from_slice(&last.to_ne_bytes());
        data
    });
    let control = data
        .as_ref()
        .ok()
        .map(|data| (libc::SOL_IP, libc::IP_RECVERR, &data[..]));
    put_control(message, libc::MSG_ERRQUEUE, control);
    said(nothing(data.map(|_| ())))
}

/// Writes the flags and at most one control message: its level, type and data.
fn put_control(message: *mut msghdr, flags: c_int, control: Option<(c_int, c_int, &[u8])>) {
    // SAFETY: packetdrill hands in a message header with the stated room for control messages.
    unsafe {
        (*message).msg_flags = flags;
        let room = (*message).msg_controllen;
        let first = libc::CMSG_FIRSTHDR(message);
        match control {
            Some((level, kind, data))
                if !first.is_null() && room >= libc::CMSG_SPACE(data.len() as u32) as usize =>
            {
                (*first).cmsg_level = level;
                (*first).cmsg_type = kind;
                (*first).cmsg_len = libc::CMSG_LEN(data.len() as u32) as usize;
                slice::from_raw_parts_mut(libc::CMSG_DATA(first), data.len()).copy_from_slice(data);
                (*message).msg_controllen = libc::CMSG_SPACE(data.len() as u32) as usize;
            }
            _ => (*message).msg_controllen = 0,
        }
    }
}
