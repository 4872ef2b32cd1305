//! The baseline of `benches/goodput.py`: the kernel's TCP at both ends of two TUN devices, with
//! only a copy from one to the other between them.
//!
//! ```text
//! unshare -n cargo run --package airtcp-net --example two_devices [-- --offload] &
//! ```
//!
//! The calling namespace has 10.112.8.1. The other has 10.112.8.2; nsenter(1) enters it by the
//! printed path.
#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    use airtcp_host::device::Tun;
    use airtcp_host::interface::Network;
    use airtcp_host::namespace::Namespace;
    use rustix::event::{PollFd, PollFlags, poll};

    let make = if std::env::args().any(|word| word == "--offload") {
        Tun::with_offload
    } else {
        Tun::new
    };
    let network = |last| Network {
        address: std::net::IpAddr::from([10, 112, 8, last]),
        prefix: 24,
    };
    let other = Namespace::new()?;
    let here = make("here", 1500, &[network(1)])?;
    let there = other.enter(|| make("there", 1500, &[network(2)]))?;
    println!("ready {}", other.path());
    let mut packet = vec![0; (1 << 16) + 64];
    loop {
        let mut both = [&here, &there].map(|tun| PollFd::new(tun, PollFlags::IN));
        poll(&mut both, None)?;
        for (from, to) in [(&here, &there), (&there, &here)] {
            while let Some(length) = from.read(&mut packet)? {
                // A full queue loses packets, as on any wire.
                to.write(&packet[..length])?;
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("TUN devices are Linux's here");
}
