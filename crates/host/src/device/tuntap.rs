//! Opens TUN and TAP devices (Documentation/networking/tuntap.rst).

use std::io;
use std::os::fd::OwnedFd;

use libc::c_int;
use rustix::fs::{Mode, OFlags, open as open_file};
use rustix::ioctl::{IntegerSetter, Opcode, Updater, ioctl, opcode};

/// Maximum length of a device's name, without its end (linux/if.h, IFNAMSIZ).
const NAME_BYTES: usize = 15;
/// linux/if_tun.h.
const SET_DEVICE: Opcode = opcode::write::<c_int>(b'T', 202);
const SET_OFFLOAD: Opcode = opcode::write::<c_int>(b'T', 208);
/// What the kernel may leave to the owner: checksums, and the segmentation of TCP over either
/// version of IP.
const TCP_OFFLOAD: u32 = libc::TUN_F_CSUM | libc::TUN_F_TSO4 | libc::TUN_F_TSO6;
/// The same for UDP, since Linux 6.2.
const UDP_OFFLOAD: u32 = libc::TUN_F_USO4 | libc::TUN_F_USO6;

/// The units that a device carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    /// IP packets: a TUN device.
    Packets,
    /// Ethernet frames: a TAP device.
    Frames,
}

/// The part of a request that these calls use (netdevice(7), struct ifreq), at its longest.
#[repr(C)]
struct Request {
    name: [u8; NAME_BYTES + 1],
    flags: u16,
    rest: [u8; 22],
}

/// Creates a device in the calling thread's namespace, which is removed with its descriptor.
/// Reads and writes do not wait. With `offload` every packet follows a virtio header.
///
/// # Errors
///
/// `/dev/net/tun` is missing or forbidden, or the name is refused.
pub fn open(name: &str, layer: Layer, offload: bool) -> io::Result<OwnedFd> {
    let kind = match layer {
        Layer::Packets => libc::IFF_TUN,
        Layer::Frames => libc::IFF_TAP,
    };
    let header = if offload { libc::IFF_VNET_HDR } else { 0 };
    let mut request = Request {
        name: [0; NAME_BYTES + 1],
        flags: (kind | libc::IFF_NO_PI | header) as u16,
        rest: [0; 22],
    };
    request.name[..NAME_BYTES]
        .get_mut(..name.len())
        .ok_or(io::ErrorKind::InvalidInput)?
        .copy_from_slice(name.as_bytes());
    let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let device = open_file("/dev/net/tun", flags, Mode::empty())?;
    // SAFETY: the kernel reads and writes a struct ifreq, which is no longer than `Request`.
    #[expect(unsafe_code, reason = "no library of ours wraps TUNSETIFF")]
    unsafe {
        ioctl(&device, Updater::<SET_DEVICE, Request>::new(&mut request))?;
    }
    if offload {
        set_offload(&device, TCP_OFFLOAD)?;
        // An older kernel segments datagrams itself.
        let _ = set_offload(&device, TCP_OFFLOAD | UDP_OFFLOAD);
    }
    Ok(device)
}

fn set_offload(device: &OwnedFd, flags: u32) -> rustix::io::Result<()> {
    // SAFETY: the argument is a number.
    #[expect(unsafe_code, reason = "no library of ours wraps TUNSETOFFLOAD")]
    unsafe {
        let request = IntegerSetter::<SET_OFFLOAD>::new_usize(flags as usize);
        ioctl(device, request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::namespace::Namespace;

    /// The kernel creates devices of both layers under their names, and removes them with their
    /// descriptors.
    #[test]
    fn a_device_lives_as_long_as_its_descriptor() {
        let Ok(namespace) = Namespace::new() else {
            airtcp_needs::skip("namespaces need root");
            return;
        };
        namespace
            .enter(|| {
                let longest = "fifteen-letters";
                for (layer, offload) in [(Layer::Packets, true), (Layer::Frames, false)] {
                    let device = open(longest, layer, offload).unwrap();
                    assert!(crate::interface::index(longest).is_ok());
                    drop(device);
                    assert!(crate::interface::index(longest).is_err());
                }
                for wrong in ["sixteen-letters!", "a/b"] {
                    let refused = open(wrong, Layer::Packets, false).unwrap_err();
                    assert_eq!(refused.kind(), io::ErrorKind::InvalidInput, "{wrong}");
                }
                Ok(())
            })
            .unwrap();
    }
}
