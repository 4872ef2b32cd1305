//! The rules as nft loads them, also on kernels without its statement `queue`: a stand-in for nft
//! passes every rule to the real one with a mark in place of that statement, and a table of the
//! test counts the marks, so that the kernel shows which packets match the rule. (Asked for a
//! counter in the gateway's table, nft 1.0.6 reads the rules too, and aborts at such sets.)

use std::ffi::OsString;
use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use airtcp_host::error::Tried;

use crate::router::{Middle, Router, WIRED, WIRED6, sh, upload, uses};
use crate::{EVERY, WIDE};

/// Replaces a queue's statement.
const STAND_IN: &str = r#"#!/bin/sh
PATH=$REAL_PATH
case "$*" in
  "-f -") exec nft -f "$(sed -E 's/queue num [0-9]+ bypass/meta mark set 0xac accept/' \
    > "$0.rules"; echo "$0.rules")" ;;
  *) exec nft "$@" ;;
esac
"#;

/// A router where the gateway finds the stand-in first; or the reason for its absence.
fn router(middle: Middle) -> Option<(Router, OsString)> {
    let made = uses(&["nft"]).and_then(|()| Router::new(middle));
    let made = made.and_then(|router| {
        sh(
            &router.router,
            "nft 'add table inet tried; delete table inet tried'",
        )?;
        let stand_in = router.state.path().join("nft");
        let failed = || "cannot write the stand-in for nft".to_owned();
        std::fs::write(&stand_in, STAND_IN).tried(failed)?;
        std::fs::set_permissions(&stand_in, PermissionsExt::from_mode(0o755)).tried(failed)?;
        let mut path = router.state.path().as_os_str().to_owned();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        Ok((router, path))
    });
    made.inspect_err(|error| eprintln!("skipped: {error}")).ok()
}

/// Segments on their way to the mobile, by the kernel's counters.
#[derive(Clone, Copy, Debug)]
struct Counts {
    /// All.
    all: u64,
    /// Those with SYN, FIN or RST.
    ends: u64,
    /// Segments that matched the rules.
    met: u64,
}

/// Makes the kernel count packets forwarded to the mobile.
fn count(router: &Router, family: &str) {
    let rules = [
        "meta l4proto tcp",
        "tcp flags & (syn | fin | rst) != 0",
        "meta mark 0xac",
    ]
    .map(|matched| {
        format!("add rule {family} counted marks iifname \"r1\" oifname \"r0\" {matched} counter\n")
    });
    let text = format!(
        "nft -f - <<'END'\n\
         add table {family} counted\n\
         add chain {family} counted marks {{ type filter hook forward priority 300; }}\n\
         {}END",
        rules.concat()
    );
    sh(&router.router, &text).unwrap();
}

fn counts(router: &Router, family: &str) -> Counts {
    // Data in flight between the hosts arrives.
    std::thread::sleep(Duration::from_millis(50));
    let list = format!("nft list chain {family} counted marks");
    let listed = sh(&router.router, &list).unwrap();
    let words: Vec<&str> = listed.split_whitespace().collect();
    let counted = words.windows(2).filter(|pair| pair[0] == "packets");
    let found: Vec<u64> = counted.map(|pair| pair[1].parse().unwrap()).collect();
    let [all, ends, met] = found.try_into().expect("three counters");
    Counts { all, ends, met }
}

/// Reads `bytes` that the wired host sends to the mobile.
pub fn download(router: &Router, to: IpAddr, bytes: usize) {
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

/// Every acknowledgment without data is met and nothing else is: not SYN and FIN, and no data.
fn rules_meet_pure_acknowledgments(middle: Middle, family: &str) {
    let Some((router, path)) = router(middle) else {
        return;
    };
    count(&router, family);
    let config = router.configuration(&format!("rules = \"nft\"\n{WIDE}"));
    let words = ["--mobile", "r0", "--wired", "r1", EVERY, "--apply"];
    let real = std::env::var_os("PATH").unwrap_or_default();
    let mut gateway = router
        .gateway_with(
            &[&words[..], &["--config", &config]].concat(),
            &[("PATH", &path), ("REAL_PATH", &real)],
        )
        .unwrap();
    for address in [IpAddr::from(WIRED), WIRED6.into()] {
        let before = counts(&router, family);
        assert!(
            upload(&router, address, 1_000_000, 1e9)
                .join()
                .unwrap()
                .is_whole
        );
        let after = counts(&router, family);
        let [all, ends, met] = [
            after.all - before.all,
            after.ends - before.ends,
            after.met - before.met,
        ];
        assert!(all > 20 && ends >= 2, "{all} segments, {ends} with flags");
        assert_eq!(met, all - ends, "over {address}");
        download(&router, address, 1_000_000);
        let then = counts(&router, family);
        // At most the acknowledgments of the mobile's FIN.
        let more = then.met - after.met;
        assert!(more <= 1, "{more} over {address}");
    }
    let _ = gateway.stop();
    let left = sh(&router.router, "nft list tables").unwrap();
    assert!(!left.contains("airtcp"), "{left}");
}

#[test]
fn nft_meets_pure_acknowledgments_that_are_forwarded() {
    rules_meet_pure_acknowledgments(Middle::Routes, "inet");
}

#[test]
fn nft_meets_pure_acknowledgments_between_ports_of_a_bridge() {
    rules_meet_pure_acknowledgments(Middle::Bridges, "bridge");
}

/// The statement itself: a kernel with it queues packets, and another kernel's error names it as
/// missing.
#[test]
fn nft_queues_where_the_kernel_can() {
    let Some((router, _)) = router(Middle::Routes) else {
        return;
    };
    let can = "nft 'add table inet tried; add chain inet tried one; \
               add rule inet tried one queue num 7 bypass'";
    let can = sh(&router.router, can);
    let _ = sh(&router.router, "nft delete table inet tried");
    let config = router.configuration(&format!("rules = \"nft\"\n{WIDE}"));
    let gateway = router.gateway(&[EVERY, "--apply", "--config", &config]);
    if let Err(error) = can {
        let refused = gateway.err().map(|error| error.to_string());
        let refused = refused.unwrap_or_default();
        assert!(refused.contains("the kernel needs NFT_QUEUE"), "{refused}");
        eprintln!("skipped: {error}");
        return;
    }
    let mut gateway = gateway.unwrap();
    assert!(
        upload(&router, WIRED, 1_000_000, 4e6)
            .join()
            .unwrap()
            .is_whole
    );
    let report = gateway.stop();
    assert!(report["did"]["delayed"].as_u64() > Some(20), "{report}");
}
