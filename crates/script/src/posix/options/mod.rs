//! Socket options, in one table: setsockopt(2), getsockopt(2), socket(7), tcp(7).

mod changes;
mod row;
mod table;

use super::errno::Errno;
use super::socket::Kind;
use super::table::{Descriptor, Sockets, System};
use row::{Get, Row, Set, number};

/// The number of the option with that name at a level.
#[must_use]
pub fn number_of<S: System + 'static>(level: i32, name: &str) -> Option<i32> {
    let mut rows = Row::<S>::TABLE.iter();
    let row = rows.find(|row| row.0 == level && row.2 == name)?;
    Some(row.1)
}

impl<S: System + 'static> Sockets<S> {
    /// Sets an option to a value in the system's memory format.
    ///
    /// # Errors
    /// ENOPROTOOPT for an unknown option, EINVAL for a value that it does not admit.
    pub fn set_option(
        &mut self,
        descriptor: Descriptor,
        level: i32,
        name: i32,
        value: &[u8],
    ) -> Result<(), Errno> {
        self.socket(descriptor)?;
        let row = row(level, name)?;
        if value.len() < row.least() {
            return Err(Errno::EINVAL);
        }
        match &row.3 {
            Set::Number(set) => set(self, descriptor, number(value))?,
            Set::Bytes(_, set) => set(self, descriptor, value)?,
            Set::Ignored => {}
            Set::Never => return Err(Errno::ENOPROTOOPT),
        }
        // Connections inherit settings of their listener made while they waited.
        let socket = self.socket_mut(descriptor)?;
        if let Kind::Listens(listener) = socket.kind {
            socket.kind = Kind::Fresh;
            let backlog = socket.backlog;
            self.endpoint.close_listener(self.now, listener);
            self.listen(descriptor, backlog)?;
        }
        Ok(())
    }

    /// An option's value, in the system's memory format.
    ///
    /// # Errors
    /// ENOPROTOOPT for an unknown option, ENOTCONN if it needs a connection.
    pub fn option(
        &mut self,
        descriptor: Descriptor,
        level: i32,
        name: i32,
    ) -> Result<Vec<u8>, Errno> {
        self.socket(descriptor)?;
        match &row(level, name)?.4 {
            Get::Number(get) => Ok(get(self, descriptor)?.to_ne_bytes().to_vec()),
            Get::Bytes(get) => get(self, descriptor),
            Get::Never => Err(Errno::ENOPROTOOPT),
        }
    }
}

fn row<S: System + 'static>(level: i32, number: i32) -> Result<&'static Row<S>, Errno> {
    let mut rows = Row::TABLE.iter();
    let row = rows.find(|row| (row.0, row.1) == (level, number));
    row.ok_or(Errno::ENOPROTOOPT)
}
