//! Rules that the gateway writes itself: no program is needed, and they meet acknowledgments
//! without data and nothing else.

use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use airtcp_host::error::Tried;

use crate::router::{Middle, Router, WIRED, WIRED6, await_that, sh};
use crate::upload::upload;
use crate::{EVERY, WIDE};

/// Packets that the kernel has led into queues (id_sequence of nfnetlink_queue).
fn queued(router: &Router) -> u64 {
    let listed = sh(&router.router, "cat /proc/net/netfilter/nfnetlink_queue").unwrap();
    listed
        .lines()
        .map(|line| {
            line.split_whitespace()
                .nth(7)
                .map_or(0, |word| word.parse().unwrap())
        })
        .sum()
}

/// TCP segments that the mobile has received.
fn received(router: &Router) -> u64 {
    let snmp = sh(&router.mobile, "cat /proc/net/snmp").unwrap();
    // The second line with that head; ten numbers before InSegs.
    let tcp = snmp.lines().rfind(|line| line.starts_with("Tcp:"));
    let word = tcp.and_then(|line| line.split_whitespace().nth(10));
    word.map_or(0, |word| word.parse().unwrap())
}

/// Reads `bytes` that the wired host sends to the mobile.
fn download(router: &Router, to: IpAddr, bytes: usize) {
    let listener = router
        .wired
        .enter(|| TcpListener::bind(SocketAddr::new(to, 0)).tried(|| "cannot listen".to_owned()))
        .unwrap();
    let address = listener.local_addr().unwrap();
    let mut come = router
        .mobile
        .enter(|| TcpStream::connect(address).tried(|| "cannot connect".to_owned()))
        .unwrap();
    let (mut out, _) = listener.accept().unwrap();
    let sender = std::thread::spawn(move || out.write_all(&vec![7; bytes]).unwrap());
    let mut come_bytes = Vec::new();
    come.read_to_end(&mut come_bytes).unwrap();
    sender.join().unwrap();
    assert_eq!(come_bytes.len(), bytes);
}

/// Waits until nothing more comes: the gateway holds no packet as long as this.
fn await_quiet(counts: impl Fn() -> [u64; 2]) {
    let mut last = counts();
    await_that(
        || {
            std::thread::sleep(Duration::from_millis(200));
            std::mem::replace(&mut last, counts()) == last
        },
        "packets end",
    );
}

fn rules_need_no_program(middle: Middle) {
    let router = match Router::new(middle) {
        Ok(router) => router,
        Err(error) => {
            airtcp_needs::skip(error);
            return;
        }
    };
    let config = router.configuration(&format!("rules = \"netlink\"\n{WIDE}"));
    let words = ["--mobile", "r0", "--wired", "r1", EVERY, "--apply"];
    let started = router.gateway_with(
        &[&words[..], &["--config", &config]].concat(),
        &[("PATH", "/nowhere".as_ref())],
    );
    let mut gateway = match started {
        Ok(gateway) => gateway,
        Err(error) => {
            airtcp_needs::skip(error);
            return;
        }
    };
    for address in [IpAddr::from(WIRED), WIRED6.into()] {
        let before = [received(&router), queued(&router)];
        assert!(upload(&router, address, 1_000_000, 4e6).is_whole);
        // Held packets and packets in flight arrive.
        let counts = || [received(&router) - before[0], queued(&router) - before[1]];
        await_quiet(counts);
        let [came, met] = counts();
        // All but the SYN and the FIN of the other end, and one more over forwarded IPv6.
        assert!(came > 20, "{came} segments");
        assert!(
            (came - 4..=came - 2).contains(&met),
            "{met} of {came} over {address}"
        );
        let before = queued(&router);
        download(&router, address, 1_000_000);
        await_quiet(counts);
        let met = queued(&router) - before;
        // At most the acknowledgments of the mobile's FIN.
        assert!(met <= 1, "{met} over {address}");
    }
    let report = gateway.stop();
    assert!(report["did"]["delayed"].as_u64() > Some(20), "{report}");
    let writer = report["rules"].as_str().unwrap_or_default();
    assert!(writer.starts_with("netlink"), "{report}");
    assert!(!router.rules().contains("airtcp"), "{}", router.rules());
}

#[test]
fn forwarded_acknowledgments_are_queued_without_a_program() {
    rules_need_no_program(Middle::Routes);
}

#[test]
fn bridged_acknowledgments_are_queued_without_a_program() {
    rules_need_no_program(Middle::Bridges);
}
