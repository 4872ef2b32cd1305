//! Socket options that rustix does not wrap (setsockopt(2)).

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd};

/// Sets an option to a plain C structure or number.
///
/// # Errors
///
/// The kernel refuses it.
pub fn set<T>(socket: &impl AsFd, level: i32, name: i32, value: &T) -> io::Result<()> {
    let length = size_of::<T>() as libc::socklen_t;
    // SAFETY: the kernel reads `length` bytes from `value`, which is borrowed meanwhile.
    #[expect(unsafe_code, reason = "no library of ours wraps these options")]
    let status = unsafe {
        let value = std::ptr::from_ref(value).cast();
        libc::setsockopt(socket.as_fd().as_raw_fd(), level, name, value, length)
    };
    done(status)
}

/// Reads an option that is a plain C structure of numbers, or a number. An older kernel leaves
/// fields that it does not know zero.
///
/// # Errors
///
/// The kernel refuses it.
pub fn get<T: Copy>(socket: &impl AsFd, level: i32, name: i32) -> io::Result<T> {
    let mut value = MaybeUninit::<T>::zeroed();
    let mut length = size_of::<T>() as libc::socklen_t;
    let descriptor = socket.as_fd().as_raw_fd();
    // SAFETY: the kernel writes at most `length` bytes into `value`; the rest stays zero, which is
    // valid for every structure of numbers.
    #[expect(unsafe_code, reason = "no library of ours wraps these options")]
    unsafe {
        let place = value.as_mut_ptr().cast();
        let status = libc::getsockopt(descriptor, level, name, place, &raw mut length);
        done(status).map(|()| value.assume_init())
    }
}

fn done(status: i32) -> io::Result<()> {
    if status == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}
