//! Socket options and addresses of packet sockets, which no library of ours wraps.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use netconfig_rs::Interface;

/// Sets an option whose value is a plain C structure or number.
///
/// # Errors
/// The kernel refuses it.
pub fn set_option<T>(socket: &OwnedFd, level: i32, name: i32, value: &T) -> io::Result<()> {
    let length = size_of::<T>() as libc::socklen_t;
    // SAFETY: the kernel reads `length` bytes from `value`, which is borrowed meanwhile.
    #[expect(unsafe_code, reason = "no library of ours wraps these options")]
    let status = unsafe {
        let value = std::ptr::from_ref(value).cast();
        libc::setsockopt(socket.as_raw_fd(), level, name, value, length)
    };
    done(status)
}

/// Reads an option whose value is a plain C structure of numbers.
///
/// # Errors
/// The kernel refuses it.
pub fn read_option<T: Copy>(socket: &OwnedFd, level: i32, name: i32) -> io::Result<T> {
    let mut value = std::mem::MaybeUninit::<T>::zeroed();
    let mut length = size_of::<T>() as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes into `value`; what it leaves is zero, which
    // is a value of every structure of numbers.
    #[expect(unsafe_code, reason = "no library of ours wraps these options")]
    unsafe {
        let place = value.as_mut_ptr().cast();
        let status = libc::getsockopt(socket.as_raw_fd(), level, name, place, &raw mut length);
        done(status).map(|()| value.assume_init())
    }
}

/// Binds a packet socket to a device, for packets of a protocol (linux/if_ether.h).
///
/// # Errors
/// There is no such device, or the kernel refuses it.
pub fn bind_packet(socket: &OwnedFd, device: &str, protocol: i32) -> io::Result<()> {
    let index = device_index(device)?;
    let address = libc::sockaddr_ll {
        sll_family: libc::AF_PACKET as u16,
        // In the order of the network.
        sll_protocol: (protocol as u16).to_be(),
        sll_ifindex: i32::try_from(index).map_err(io::Error::other)?,
        sll_hatype: 0,
        sll_pkttype: 0,
        sll_halen: 0,
        sll_addr: [0; 8],
    };
    let length = size_of_val(&address) as libc::socklen_t;
    // SAFETY: the kernel reads `length` bytes from `address`, which is borrowed meanwhile.
    #[expect(
        unsafe_code,
        reason = "no library of ours knows addresses of packet sockets"
    )]
    let status = unsafe {
        let address = std::ptr::from_ref(&address).cast();
        libc::bind(socket.as_raw_fd(), address, length)
    };
    done(status)
}

/// The number of a device in the namespace of the calling thread.
///
/// # Errors
/// There is no such device.
pub fn device_index(device: &str) -> io::Result<u32> {
    Interface::try_from_name(device)
        .and_then(|device| device.index())
        .map_err(|error| io::Error::new(io::ErrorKind::NotFound, error.to_string()))
}

fn done(status: i32) -> io::Result<()> {
    if status == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}
