//! A client over airtcp's TCP, as with `std::net`: requests the first page of a web server on this
//! machine. As root, or after `unshare -Urn`:
//!
//! ```text
//! cargo run --package airtcp-net --example client -- 10.112.9.1:8000 &
//! sleep 1; python3 -m http.server --bind 10.112.9.1
//! ```
#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    use std::io::{Read, Write};

    use airtcp_endpoint::Options;
    use airtcp_host::interface::Network;
    use airtcp_proxy::stack::{driver::Device, socket::Stack};

    let server = std::env::args()
        .nth(1)
        .ok_or("usage: client ADDRESS:PORT")?;
    let kernel = Network {
        address: "10.112.9.1".parse()?,
        prefix: 24,
    };
    let device = Device {
        name: "airtcp-client".into(),
        mtu: 1500,
        networks: vec![kernel],
        offload: false,
    };
    let stack = Stack::new(&device)?;
    std::thread::sleep(std::time::Duration::from_secs(3)); // the server's time to start
    let (from, to) = ("10.112.9.2:0".parse()?, server.parse()?);
    let mut stream = stack.connect(from, to, &Options::default())?;
    stream.write_all(b"GET / HTTP/1.0\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    print!("{answer}");
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("TUN devices are Linux's here");
}
