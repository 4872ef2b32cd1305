//! Linux's error numbers (include/uapi/asm-generic/errno.h).

use std::fmt;

/// The number of an error.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Errno(i32);

macro_rules! errors {
    ($($name:ident = $number:literal, $meaning:literal;)*) => {
        impl Errno {
            $(#[doc = $meaning] pub const $name: Self = Self($number);)*

            /// Its name, as in errno(3).
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self.0 {
                    $($number => stringify!($name),)*
                    _ => "an error without a name",
                }
            }

            /// The error with that number.
            #[must_use]
            pub const fn of_number(number: i32) -> Option<Self> {
                match number {
                    $($number => Some(Self($number)),)*
                    _ => None,
                }
            }

            /// The error with that name.
            #[must_use]
            pub fn of_name(name: &str) -> Option<Self> {
                match name {
                    $(stringify!($name) => Some(Self($number)),)*
                    _ => None,
                }
            }
        }
    };
}

errors! {
    ENOENT = 2, "No such entry.";
    EBADF = 9, "Not a descriptor.";
    EAGAIN = 11, "The call would have to wait.";
    EFAULT = 14, "A pointer to nothing.";
    EEXIST = 17, "The entry exists.";
    EINVAL = 22, "An argument that the call does not know.";
    EMFILE = 24, "No descriptor is left.";
    EPIPE = 32, "Nothing can be written any more.";
    EDEADLK = 35, "The call would wait for ever.";
    ENOSYS = 38, "There is no such call.";
    ENOTSOCK = 88, "The descriptor is not a socket.";
    EDESTADDRREQ = 89, "The call needs an address.";
    ENOPROTOOPT = 92, "There is no such option.";
    EPROTONOSUPPORT = 93, "There is no such protocol.";
    EOPNOTSUPP = 95, "The socket does not have that operation.";
    EADDRINUSE = 98, "The address has a listener.";
    EADDRNOTAVAIL = 99, "The address cannot be used.";
    ECONNABORTED = 103, "The connection was aborted here.";
    ECONNRESET = 104, "The peer reset the connection.";
    EISCONN = 106, "The socket is connected.";
    ENOTCONN = 107, "The socket is not connected.";
    ETIMEDOUT = 110, "The peer did not answer.";
    ECONNREFUSED = 111, "The peer refused the connection.";
    EALREADY = 114, "The socket is being connected.";
    EINPROGRESS = 115, "The connection is being opened.";
}

impl Errno {
    /// The number.
    #[must_use]
    pub const fn number(self) -> i32 {
        self.0
    }
}

impl fmt::Debug for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
