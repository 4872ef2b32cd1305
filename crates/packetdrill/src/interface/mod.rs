//! packetdrill's table of functions (`packetdrill.h`): pointers and numbers of C on one side,
//! slices and results on the other.
#![expect(unsafe_code, reason = "the other side is C")]

mod received;
mod waiting;

use std::ffi::{CStr, c_char, c_int, c_long, c_uint, c_ulong, c_void};
use std::net::{IpAddr, Ipv4Addr};
use std::slice;

use airtcp_script::posix::Errno;
use airtcp_units::Duration;
use libc::{epoll_event, iovec, msghdr, pollfd, sockaddr, socklen_t, ssize_t, timeval};

use crate::machine::{MACHINE, Machine, machine, micros};
use crate::memory::{
    HeldPointer, address, descriptor, nothing, pieces, read_into, said, said_int, tell, write_from,
};
use received::recvmsg;
use waiting::{epoll_create, epoll_ctl, epoll_wait, poll};

type User = *mut c_void;

/// `struct packetdrill_interface`. Two of its functions are variadic in C; their arguments, numbers
/// and pointers, are passed alike by the calling conventions of x86-64 and AArch64.
#[repr(C)]
struct Interface {
    userdata: User,
    free: extern "C" fn(User),
    socket: extern "C" fn(User, c_int, c_int, c_int) -> c_int,
    bind: extern "C" fn(User, c_int, *const sockaddr, socklen_t) -> c_int,
    listen: extern "C" fn(User, c_int, c_int) -> c_int,
    accept: extern "C" fn(User, c_int, *mut sockaddr, *mut socklen_t) -> c_int,
    connect: extern "C" fn(User, c_int, *const sockaddr, socklen_t) -> c_int,
    read: extern "C" fn(User, c_int, *mut c_void, usize) -> ssize_t,
    readv: extern "C" fn(User, c_int, *const iovec, c_int) -> ssize_t,
    recv: extern "C" fn(User, c_int, *mut c_void, usize, c_int) -> ssize_t,
    recvfrom: extern "C" fn(
        User,
        c_int,
        *mut c_void,
        usize,
        c_int,
        *mut sockaddr,
        *mut socklen_t,
    ) -> ssize_t,
    recvmsg: extern "C" fn(User, c_int, *mut msghdr, c_int) -> ssize_t,
    write: extern "C" fn(User, c_int, *const c_void, usize) -> ssize_t,
    writev: extern "C" fn(User, c_int, *const iovec, c_int) -> ssize_t,
    send: extern "C" fn(User, c_int, *const c_void, usize, c_int) -> ssize_t,
    sendto: extern "C" fn(
        User,
        c_int,
        *const c_void,
        usize,
        c_int,
        *const sockaddr,
        socklen_t,
    ) -> ssize_t,
    sendmsg: extern "C" fn(User, c_int, *const msghdr, c_int) -> ssize_t,
    fcntl: extern "C" fn(User, c_int, c_int, c_long) -> c_int,
    ioctl: extern "C" fn(User, c_int, c_ulong, *mut c_int) -> c_int,
    close: extern "C" fn(User, c_int) -> c_int,
    shutdown: extern "C" fn(User, c_int, c_int) -> c_int,
    getsockopt: extern "C" fn(User, c_int, c_int, c_int, *mut c_void, *mut socklen_t) -> c_int,
    setsockopt: extern "C" fn(User, c_int, c_int, c_int, *const c_void, socklen_t) -> c_int,
    poll: extern "C" fn(User, *mut pollfd, c_ulong, c_int) -> c_int,
    netdev_send: extern "C" fn(User, *const c_void, usize) -> c_int,
    netdev_receive: extern "C" fn(User, *mut c_void, *mut usize, *mut i64) -> c_int,
    usleep: extern "C" fn(User, c_uint) -> c_int,
    gettimeofday: extern "C" fn(User, *mut timeval, *mut c_void) -> c_int,
    epoll_create: extern "C" fn(User, c_int) -> c_int,
    epoll_ctl: extern "C" fn(User, c_int, c_int, c_int, *mut epoll_event) -> c_int,
    epoll_wait: extern "C" fn(User, c_int, *mut epoll_event, c_int, c_int) -> c_int,
    pipe: extern "C" fn(User, *mut c_int) -> c_int,
    splice: extern "C" fn(User, c_int, *mut i64, c_int, *mut i64, usize, c_uint) -> c_int,
}

/// Fills the table. `flags` is the endpoint's address, as `--so_flags` gives it.
///
/// # Safety
///
/// `flags` is a string or null, and `table` points to packetdrill's table.
#[unsafe(no_mangle)]
unsafe extern "C" fn packetdrill_interface_init(flags: *const c_char, table: *mut Interface) {
    let local = if flags.is_null() {
        None
    } else {
        // SAFETY: as the caller promises.
        let text = unsafe { CStr::from_ptr(flags) };
        text.to_str().ok().and_then(|text| text.trim().parse().ok())
    };
    let local = local.unwrap_or(IpAddr::V4(Ipv4Addr::new(192, 168, 0, 1)));
    let _ = MACHINE.set(Machine::new(local));
    let filled = Interface {
        userdata: std::ptr::null_mut(),
        free,
        socket,
        bind,
        listen,
        accept,
        connect,
        read,
        readv,
        recv,
        recvfrom,
        recvmsg,
        write,
        writev,
        send,
        sendto,
        sendmsg,
        fcntl,
        ioctl,
        close,
        shutdown,
        getsockopt: get_option,
        setsockopt,
        poll,
        netdev_send,
        netdev_receive,
        usleep,
        gettimeofday,
        epoll_create,
        epoll_ctl,
        epoll_wait,
        pipe,
        splice,
    };
    // SAFETY: as the caller promises; the present content is overwritten and not dropped.
    unsafe { table.write(filled) };
}

extern "C" fn free(_: User) {}

extern "C" fn socket(_: User, _domain: c_int, kind: c_int, protocol: c_int) -> c_int {
    said_int(descriptor(
        machine().call(|sockets| sockets.make_socket(kind, protocol)),
    ))
}

extern "C" fn bind(_: User, fd: c_int, at: *const sockaddr, length: socklen_t) -> c_int {
    let bound = address(at, length).and_then(|at| machine().call(|all| all.bind(fd, at)));
    said_int(nothing(bound))
}

extern "C" fn listen(_: User, fd: c_int, backlog: c_int) -> c_int {
    said_int(nothing(
        machine().call(|sockets| sockets.listen(fd, backlog)),
    ))
}

extern "C" fn accept(_: User, fd: c_int, at: *mut sockaddr, length: *mut socklen_t) -> c_int {
    let (at, length) = (HeldPointer(at), HeldPointer(length));
    said_int(machine().wait(move |world| {
        let accepted = world.sockets.accept(fd, 0);
        accepted.map_ok(|(descriptor, peer)| {
            tell(peer, at.get(), length.get());
            descriptor as isize
        })
    }))
}

extern "C" fn connect(_: User, fd: c_int, at: *const sockaddr, length: socklen_t) -> c_int {
    let to = match address(at, length) {
        Ok(to) => to,
        Err(error) => return said_int(Err(error)),
    };
    let mut has_begun = false;
    said_int(machine().wait(move |world| {
        let outcome = if std::mem::replace(&mut has_begun, true) {
            world.sockets.connected(fd)
        } else {
            world.sockets.connect(fd, to)
        };
        outcome.map_ok(|()| 0)
    }))
}

extern "C" fn read(_: User, fd: c_int, into: *mut c_void, length: usize) -> ssize_t {
    said(read_into(fd, vec![(HeldPointer(into.cast()), length)], 0))
}

extern "C" fn readv(_: User, fd: c_int, into: *const iovec, count: c_int) -> ssize_t {
    said(read_into(
        fd,
        pieces(into, usize::try_from(count).unwrap_or(0)),
        0,
    ))
}

extern "C" fn recv(_: User, fd: c_int, into: *mut c_void, length: usize, flags: c_int) -> ssize_t {
    said(read_into(
        fd,
        vec![(HeldPointer(into.cast()), length)],
        flags,
    ))
}

extern "C" fn recvfrom(
    _: User,
    fd: c_int,
    into: *mut c_void,
    length: usize,
    flags: c_int,
    _: *mut sockaddr,
    _: *mut socklen_t,
) -> ssize_t {
    said(read_into(
        fd,
        vec![(HeldPointer(into.cast()), length)],
        flags,
    ))
}

extern "C" fn write(_: User, fd: c_int, from: *const c_void, length: usize) -> ssize_t {
    said(write_from(
        fd,
        &[(HeldPointer(from.cast_mut().cast()), length)],
        0,
        Err(Errno::EDESTADDRREQ),
    ))
}

extern "C" fn writev(_: User, fd: c_int, from: *const iovec, count: c_int) -> ssize_t {
    said(write_from(
        fd,
        &pieces(from, usize::try_from(count).unwrap_or(0)),
        0,
        Err(Errno::EDESTADDRREQ),
    ))
}

extern "C" fn send(
    _: User,
    fd: c_int,
    from: *const c_void,
    length: usize,
    flags: c_int,
) -> ssize_t {
    said(write_from(
        fd,
        &[(HeldPointer(from.cast_mut().cast()), length)],
        flags,
        Err(Errno::EDESTADDRREQ),
    ))
}

extern "C" fn sendto(
    _: User,
    fd: c_int,
    from: *const c_void,
    length: usize,
    flags: c_int,
    at: *const sockaddr,
    at_length: socklen_t,
) -> ssize_t {
    said(write_from(
        fd,
        &[(HeldPointer(from.cast_mut().cast()), length)],
        flags,
        address(at, at_length),
    ))
}

extern "C" fn sendmsg(_: User, fd: c_int, message: *const msghdr, flags: c_int) -> ssize_t {
    // SAFETY: packetdrill hands in a message header that it has filled.
    let (from, count) = unsafe { ((*message).msg_iov, (*message).msg_iovlen) };
    // SAFETY: as above.
    let (at, length) = unsafe { ((*message).msg_name, (*message).msg_namelen) };
    let whom = address(at.cast(), length);
    said(write_from(fd, &pieces(from, count), flags, whom))
}

extern "C" fn fcntl(_: User, fd: c_int, command: c_int, value: c_long) -> c_int {
    said_int(descriptor(
        machine().call(|sockets| sockets.control(fd, command, value)),
    ))
}

extern "C" fn ioctl(_: User, fd: c_int, request: c_ulong, into: *mut c_int) -> c_int {
    let into = HeldPointer(into);
    said_int(machine().call(move |sockets| {
        let bytes = sockets.queue(fd, request)?;
        if into.get().is_null() {
            return Err(Errno::EFAULT);
        }
        // SAFETY: packetdrill hands in room for an int.
        unsafe { into.get().write(bytes) };
        Ok(0)
    }))
}

extern "C" fn close(_: User, fd: c_int) -> c_int {
    let closed = nothing(machine().call(|sockets| sockets.close(fd)));
    if closed.is_ok() {
        // SAFETY: the descriptor belongs to this library, and has no other owner left.
        unsafe { libc::close(fd) };
    }
    said_int(closed)
}

extern "C" fn shutdown(_: User, fd: c_int, how: c_int) -> c_int {
    said_int(nothing(machine().call(|sockets| sockets.shut(fd, how))))
}

extern "C" fn setsockopt(
    _: User,
    fd: c_int,
    level: c_int,
    name: c_int,
    value: *const c_void,
    length: socklen_t,
) -> c_int {
    if value.is_null() {
        return said_int(Err(Errno::EFAULT));
    }
    // SAFETY: packetdrill hands in a value of that length.
    let value = unsafe { slice::from_raw_parts(value.cast::<u8>(), length as usize) };
    said_int(nothing(
        machine().call(|sockets| sockets.set_option(fd, level, name, value)),
    ))
}

extern "C" fn get_option(
    _: User,
    fd: c_int,
    level: c_int,
    name: c_int,
    into: *mut c_void,
    length: *mut socklen_t,
) -> c_int {
    let (into, length) = (HeldPointer(into.cast::<u8>()), HeldPointer(length));
    said_int(machine().call(move |sockets| {
        let value = sockets.option(fd, level, name)?;
        if into.get().is_null() || length.get().is_null() {
            return Err(Errno::EFAULT);
        }
        // SAFETY: packetdrill hands in the stated room.
        unsafe {
            let count = value.len().min(*length.get() as usize);
            into.get().copy_from_nonoverlapping(value.as_ptr(), count);
            *length.get() = count as socklen_t;
        }
        Ok(0)
    }))
}

/// packetdrill queries the system itself for `TCP_INFO`. If this object is preloaded
/// (`LD_PRELOAD`), the endpoint answers for its sockets.
///
/// # Safety
///
/// As getsockopt(2).
#[unsafe(no_mangle)]
unsafe extern "C" fn getsockopt(
    fd: c_int,
    level: c_int,
    name: c_int,
    into: *mut c_void,
    length: *mut socklen_t,
) -> c_int {
    let is_ours = MACHINE
        .get()
        .is_some_and(|machine| machine.ask(|sockets| sockets.has(fd)));
    if is_ours {
        return get_option(std::ptr::null_mut(), fd, level, name, into, length);
    }
    // SAFETY: as the caller promises.
    unsafe { libc::syscall(libc::SYS_getsockopt, fd, level, name, into, length) as c_int }
}

extern "C" fn netdev_send(_: User, from: *const c_void, length: usize) -> c_int {
    // SAFETY: packetdrill hands in a packet of that length.
    let packet = unsafe { slice::from_raw_parts(from.cast::<u8>(), length) };
    machine().arrive(packet);
    0
}

extern "C" fn netdev_receive(
    _: User,
    into: *mut c_void,
    length: *mut usize,
    time: *mut i64,
) -> c_int {
    let found = machine().depart();
    // SAFETY: packetdrill hands in the stated room, and room for the numbers.
    unsafe {
        let Some((at, packet)) = found else {
            // Without a packet the length is invalid, and the script fails.
            *length = 0;
            return 0;
        };
        let count = packet.len().min(*length);
        into.cast::<u8>()
            .copy_from_nonoverlapping(packet.as_ptr(), count);
        *length = count;
        *time = micros(at).cast_signed();
    }
    0
}

extern "C" fn usleep(_: User, micros: c_uint) -> c_int {
    machine().sleep(Duration::from_micros(micros.into()));
    0
}

extern "C" fn gettimeofday(_: User, into: *mut timeval, _: *mut c_void) -> c_int {
    let micros = machine().look_at_clock().cast_signed();
    // SAFETY: packetdrill hands in room for a time.
    unsafe {
        (*into).tv_sec = micros / 1_000_000;
        (*into).tv_usec = micros % 1_000_000;
    }
    0
}

extern "C" fn pipe(_: User, _: *mut c_int) -> c_int {
    said_int(Err(Errno::ENOSYS))
}

extern "C" fn splice(
    _: User,
    _: c_int,
    _: *mut i64,
    _: c_int,
    _: *mut i64,
    _: usize,
    _: c_uint,
) -> c_int {
    said_int(Err(Errno::ENOSYS))
}
