//! Data sent in the SYN (RFC 7413): the sender learns of it once the peer's SYN is known.

use airtcp_units::Instant;

use super::Sender;
use super::space::Fresh;

impl Sender {
    /// Records that the first `carried` bytes were sent in the SYN at `sent_at`, and that the bytes
    /// below `acknowledged` have arrived. The window is as after any handshake: it does not grow by
    /// them (Linux, `tcp_init_transfer`, which sets it after `tcp_ack`).
    pub(crate) fn on_sent_in_syn(&mut self, sent_at: Instant, carried: u64, acknowledged: u64) {
        self.space.on_sent(acknowledged);
        self.space.on_acknowledged(acknowledged);
        if acknowledged < carried {
            let rest = Fresh {
                start: acknowledged,
                end: carried,
                fin: false,
            };
            self.send_new(sent_at, &rest);
        }
    }

    /// Retransmits at once the data that the peer has not acknowledged: a peer without support for
    /// data in SYNs is no sign of congestion (Linux, `tcp_rcv_fastopen_synack` and
    /// `tcp_non_congestion_loss_retransmit`).
    pub(crate) fn on_syn_data_refused(&mut self) {
        let written = self.space.written();
        if self.board.mark_larger_lost(0, written) {
            self.repair_cut_segments();
        }
    }
}
