//! ioctl(2) and fcntl(2) of sockets.

use super::constants::{F_GETFL, F_SETFL, FIONREAD, O_NONBLOCK, O_RDWR, SIOCOUTQNSD, TIOCOUTQ};
use super::errno::Errno;
use super::socket::Kind;
use super::table::{Descriptor, Sockets, System};

impl<S: System> Sockets<S> {
    /// The number of bytes requested by an ioctl: unread, unacknowledged or unsent (tcp(7)).
    ///
    /// # Errors
    /// EINVAL for an unknown request, ENOTCONN without a connection.
    pub fn queue(&self, descriptor: Descriptor, request: u64) -> Result<i32, Errno> {
        let id = self.connection(descriptor)?;
        let stream = self.endpoint.stream(id).ok_or(Errno::ENOTCONN)?;
        let bytes = match request {
            FIONREAD => stream.available(),
            TIOCOUTQ => stream.unacknowledged(),
            SIOCOUTQNSD => stream.unsent(),
            _ => return Err(Errno::EINVAL),
        };
        Ok(i32::try_from(bytes).unwrap_or(i32::MAX))
    }

    /// Reads or sets whether a socket blocks.
    ///
    /// # Errors
    /// EINVAL for another command.
    pub fn control(
        &mut self,
        descriptor: Descriptor,
        command: i32,
        value: i64,
    ) -> Result<i32, Errno> {
        let socket = self.socket_mut(descriptor)?;
        if let Kind::Epoll(_) = socket.kind {
            return Err(Errno::EINVAL);
        }
        match command {
            F_GETFL => {
                let waits = if socket.non_blocking { O_NONBLOCK } else { 0 };
                Ok(O_RDWR | waits)
            }
            F_SETFL => {
                socket.non_blocking = value & i64::from(O_NONBLOCK) != 0;
                Ok(0)
            }
            _ => Err(Errno::EINVAL),
        }
    }

    /// Whether calls on a socket may block.
    #[must_use]
    pub fn blocks(&self, descriptor: Descriptor) -> bool {
        self.socket(descriptor)
            .is_ok_and(|socket| !socket.non_blocking)
    }
}
