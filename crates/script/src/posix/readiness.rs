//! Readiness for non-blocking operations: the events of poll(2) and epoll(7).

use std::collections::BTreeMap;

use airtcp_tcp::State;

use super::constants::{
    EPOLL_CTL_ADD, EPOLL_CTL_DEL, EPOLL_CTL_MOD, EPOLLERR, EPOLLET, EPOLLHUP, EPOLLIN,
    EPOLLONESHOT, EPOLLOUT, EPOLLRDHUP,
};
use super::errno::Errno;
use super::interest::{Marks, Watched};
use super::socket::{Kind, Socket};
use super::table::{Descriptor, Sockets, System};

impl<S: System> Sockets<S> {
    /// Events of a descriptor; poll and epoll have the same bits (Linux, `tcp_poll`).
    #[must_use]
    pub fn events(&self, descriptor: Descriptor) -> u32 {
        let Ok(socket) = self.socket(descriptor) else {
            return 0;
        };
        let id = match socket.kind {
            Kind::Connection(id) => id,
            Kind::Listens(listener) if self.endpoint.waiting(listener) > 0 => return EPOLLIN,
            // The SYN waits for data (Linux, `tcp_poll`).
            Kind::Fresh if socket.fast_open.deferred.is_some() => return EPOLLOUT,
            Kind::Fresh => return EPOLLOUT | EPOLLHUP,
            Kind::Listens(_) | Kind::Epoll(_) => return 0,
        };
        let Some(stream) = self.endpoint.stream(id) else {
            return 0;
        };
        let ready = stream.readiness();
        let connection = stream.connection();
        let mut events = 0;
        let has_closed = connection.receiver().is_finished() || socket.reads_shut;
        if has_closed {
            events |= EPOLLIN | EPOLLRDHUP;
        }
        if has_closed && socket.writes_shut || connection.state() == State::Closed {
            events |= EPOLLHUP | EPOLLIN | EPOLLRDHUP;
        }
        if ready.established && stream.available() >= socket.options.readable_from {
            events |= EPOLLIN;
        }
        if ready.established && (ready.writable || socket.writes_shut) {
            events |= EPOLLOUT;
        }
        if self.end(id).is_some() && !socket.told_of_end {
            events |= EPOLLERR | EPOLLIN | EPOLLOUT;
        }
        if socket.notices.pending(connection.sender().una()) > 0 {
            events |= EPOLLERR;
        }
        events
    }

    /// Creates an epoll instance.
    ///
    /// # Errors
    /// EMFILE if no descriptor is left.
    pub fn make_epoll(&mut self) -> Result<Descriptor, Errno> {
        let kind = Kind::Epoll(BTreeMap::new());
        self.open(Socket::new(kind, self.fresh_options(), false))
    }

    /// epoll_ctl(2); `wanted` holds the events to watch for and the user's data, if any.
    ///
    /// # Errors
    /// EBADF, EINVAL, EEXIST, ENOENT and EFAULT, as in the manual.
    pub fn watch(
        &mut self,
        epoll: Descriptor,
        operation: i32,
        descriptor: Descriptor,
        wanted: Option<(u32, u64)>,
    ) -> Result<(), Errno> {
        self.socket(descriptor)?;
        let Kind::Epoll(watched) = &mut self.socket_mut(epoll)?.kind else {
            return Err(Errno::EINVAL);
        };
        let known = watched.contains_key(&descriptor);
        match operation {
            EPOLL_CTL_ADD if known => return Err(Errno::EEXIST),
            EPOLL_CTL_MOD | EPOLL_CTL_DEL if !known => return Err(Errno::ENOENT),
            EPOLL_CTL_DEL => {
                watched.remove(&descriptor);
            }
            EPOLL_CTL_ADD | EPOLL_CTL_MOD => {
                let (events, data) = wanted.ok_or(Errno::EFAULT)?;
                let entry = Watched {
                    events,
                    data,
                    is_spent: false,
                    told: None,
                };
                watched.insert(descriptor, entry);
            }
            _ => return Err(Errno::EINVAL),
        }
        Ok(())
    }

    /// At most `most` of the watched events, with the user's data of each.
    ///
    /// # Errors
    /// EBADF, and EINVAL if it is no epoll instance.
    pub fn news(&mut self, epoll: Descriptor, most: usize) -> Result<Vec<(u32, u64)>, Errno> {
        let Kind::Epoll(watched) = &self.socket(epoll)?.kind else {
            return Err(Errno::EINVAL);
        };
        let descriptors: Vec<Descriptor> = watched.keys().copied().collect();
        let mut found = Vec::new();
        for descriptor in descriptors {
            let mut marks = self.marks(descriptor);
            let Kind::Epoll(watched) = &mut self.socket_mut(epoll)?.kind else {
                return Err(Errno::EINVAL);
            };
            let Some(one) = watched.get_mut(&descriptor) else {
                continue;
            };
            // Once it has reported, a one-shot entry reports nothing, not even errors (Linux,
            // `EP_PRIVATE_BITS`).
            let wanted = match one.is_spent {
                true => 0,
                false => one.events & !(EPOLLET | EPOLLONESHOT) | EPOLLERR | EPOLLHUP,
            };
            marks.ready &= wanted;
            let is_news = one.told.is_none_or(|told| marks.is_news(&told));
            let is_due = one.events & EPOLLET == 0 || is_news;
            if marks.ready != 0 && found.len() < most && is_due {
                found.push((marks.ready, one.data));
                one.is_spent = one.events & EPOLLONESHOT != 0;
                one.told = Some(marks);
            } else if let Some(told) = &mut one.told {
                told.ready &= marks.ready;
            }
        }
        Ok(found)
    }

    fn marks(&self, descriptor: Descriptor) -> Marks {
        let mut marks = Marks {
            received: 0,
            is_finished: false,
            sends_done: 0,
            ready: self.events(descriptor),
        };
        if let Ok(socket) = self.socket(descriptor)
            && let Kind::Connection(id) = socket.kind
            && let Some(stream) = self.endpoint.stream(id)
        {
            let connection = stream.connection();
            marks.received = connection.receiver().received();
            marks.is_finished = connection.receiver().is_finished();
            marks.sends_done = socket.notices.done(connection.sender().una());
        }
        marks
    }
}
