//! Settings that can be changed on a live connection.

use airtcp_tcp::config::CongestionControl;
use airtcp_units::Duration;

use super::Stream;

impl Stream {
    /// Changes the congestion control.
    pub fn set_congestion_control(&mut self, control: CongestionControl) {
        self.connection.set_congestion_control(control);
    }

    /// Changes the limit on received unread bytes.
    pub fn set_receive_buffer(&mut self, bytes: u64) {
        self.connection.set_receive_buffer(bytes);
    }

    /// Changes the limit on written unacknowledged bytes.
    pub fn set_send_buffer(&mut self, bytes: usize) {
        self.outgoing.set_most(bytes.max(1));
        self.writable_from = self.writable_from.min(bytes.max(1));
    }

    /// Changes the number of bytes from which it is readable, and the room from which it is
    /// writable.
    pub fn set_low_water(&mut self, readable_from: usize, writable_from: usize) {
        self.readable_from = readable_from.max(1);
        self.writable_from = writable_from.max(1);
    }

    /// Changes the number of unsent bytes below which it is writable (TCP_NOTSENT_LOWAT).
    pub fn set_unsent_below(&mut self, bytes: usize) {
        self.unsent_below = bytes.max(1);
    }

    /// Whether small segments leave at once (TCP_NODELAY).
    pub fn set_no_delay(&mut self, no_delay: bool) {
        self.connection.set_no_delay(no_delay);
    }

    /// Whether only full segments may leave (TCP_CORK).
    pub fn set_corked(&mut self, corked: bool) {
        self.connection.set_corked(corked);
    }

    /// Whether the data written next waits for more, until an acknowledgment arrives (MSG_MORE).
    pub fn set_more(&mut self, more: bool) {
        self.connection.set_more(more);
    }

    /// Changes how long written data may go unacknowledged (TCP_USER_TIMEOUT).
    pub fn set_user_timeout(&mut self, most: Option<Duration>) {
        self.connection.set_user_timeout(most);
    }

    /// Changes how often an unanswered SYN is retransmitted (TCP_SYNCNT).
    pub fn set_syn_retries(&mut self, most: u8) {
        self.connection.set_syn_retries(most);
    }
}
