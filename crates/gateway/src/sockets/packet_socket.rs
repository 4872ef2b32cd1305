//! Addresses and frames of packet sockets, which the libraries used do not wrap.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd};

use airtcp_host::interface;

/// Binds a packet socket to a device, for packets of a protocol (linux/if_ether.h).
///
/// # Errors
/// There is no such device, or the kernel refuses it.
pub fn bind_packet(socket: &OwnedFd, device: &str, protocol: i32) -> io::Result<()> {
    let index = interface::index(device).map_err(io::Error::other)?;
    let address = libc::sockaddr_ll {
        sll_family: libc::AF_PACKET as u16,
        // In network byte order.
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
    if status == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// The tag of a frame's outermost VLAN: its protocol, and priority with number (IEEE 802.1Q).
pub type VlanTag = [u16; 2];

/// Reads a frame from a packet socket with PACKET_AUXDATA: its length, and the tag that the kernel
/// removes from every incoming frame, whether or not its device does.
///
/// # Errors
/// There is no frame, or the device is gone.
pub fn receive_frame(socket: &OwnedFd, buffer: &mut [u8]) -> io::Result<(usize, Option<VlanTag>)> {
    // Aligned like the kernel's headers, and with room for one message of auxiliary data.
    let mut control = [0_u64; 8];
    let mut place = libc::iovec {
        iov_base: buffer.as_mut_ptr().cast(),
        iov_len: buffer.len(),
    };
    // SAFETY: zero is valid for every structure of numbers and pointers; the kernel writes at most
    // `iov_len` bytes into `buffer` and `msg_controllen` into `control`, both borrowed meanwhile.
    #[expect(unsafe_code, reason = "no library of ours knows PACKET_AUXDATA")]
    unsafe {
        let mut message: libc::msghdr = MaybeUninit::zeroed().assume_init();
        message.msg_iov = &raw mut place;
        message.msg_iovlen = 1;
        message.msg_control = control.as_mut_ptr().cast();
        message.msg_controllen = size_of_val(&control) as _;
        let length = libc::recvmsg(socket.as_raw_fd(), &raw mut message, 0);
        let length = usize::try_from(length).map_err(|_| io::Error::last_os_error())?;
        let mut header = libc::CMSG_FIRSTHDR(&raw const message);
        while let Some(found) = header.as_ref() {
            if (found.cmsg_level, found.cmsg_type) == (libc::SOL_PACKET, libc::PACKET_AUXDATA) {
                let data = libc::CMSG_DATA(header).cast::<libc::tpacket_auxdata>();
                return Ok((length, tag(&data.read_unaligned())));
            }
            header = libc::CMSG_NXTHDR(&raw const message, header);
        }
        Ok((length, None))
    }
}

fn tag(data: &libc::tpacket_auxdata) -> Option<VlanTag> {
    let has = |flag| data.tp_status & flag != 0;
    // Kernels before 3.14 do not report the protocol.
    let protocol = if has(libc::TP_STATUS_VLAN_TPID_VALID) {
        data.tp_vlan_tpid
    } else {
        0x8100
    };
    has(libc::TP_STATUS_VLAN_VALID).then_some([protocol, data.tp_vlan_tci])
}
