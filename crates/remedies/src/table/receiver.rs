//! What the receiving endpoint does.

use airtcp_tcp::config::ReceiveWindow;

use super::row::receiver;
use crate::choices::LARGEST_OFFER;
use crate::deployment::endpoints;
use crate::key::key;
use crate::receiver::{acknowledgments, mss_clamp, outages};
use crate::{Parameter, Quantity, Remedy};

use Quantity::Count;

#[rustfmt::skip] // Each row in few lines.
pub(crate) const ROWS: &[Remedy] = &[
    acknowledgments::DELAYED_ACK,
    acknowledgments::ACK_RATE,
    receiver("dsack")
        .effect("reports duplicate arrivals, so that the sender can detect needless \
                 retransmissions; implies SACK")
        .from("RFC 2883")
        .decides("reports of duplicates")
        .takes(&[Parameter::key("on", key!(dsack), Count(1))
            .advised("1: on, and SACK with it; 0: off")])
        // RFC 2883 §4: the report is a SACK block.
        .sets(|_, to| to.tcp.sack |= to.tcp.dsack)
        .by(endpoints::DSACK),
    receiver("receive-window")
        .effect("caps the sender's data in flight: a client's remedy for the queue of its download")
        .from("RFC 9293 §3.8.6; Spring et al., Receiver Based Management of Low Bandwidth Access \
               Links, INFOCOM 2000")
        .decides(LARGEST_OFFER)
        .takes(&[Parameter::key("bytes", key!(receive_buffer), Count(65_536))
            .advised("all of it is offered: the link's rate times the round trip that you want")])
        .sets(|_, to| to.tcp.receive_window = ReceiveWindow::Fixed)
        .by(endpoints::RECEIVE_WINDOW),
    receiver("receive-buffer")
        .effect("sets the maximum receive buffer and so the largest advertised window: below the \
                 bandwidth-delay product it leaves the link idle")
        .from("Fisk & Feng, Dynamic right-sizing in TCP, LACSI 2001; RFC 7323 §2; Linux, tcp(7), \
               tcp_rmem")
        .decides(LARGEST_OFFER)
        .takes(&[Parameter::key("bytes", key!(receive_buffer), Count(8 << 20))
            .advised("twice the link's rate times the round trip, since data buffered behind a gap \
                      waits one more round trip")])
        .by(endpoints::RECEIVE_BUFFER),
    acknowledgments::TACK,
    outages::FREEZE_TCP,
    outages::HAND_OFF_ACKS,
    mss_clamp::REMEDY,
];
