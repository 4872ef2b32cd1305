//! Scripts of FreeBSD's suite: their settings are applied where they have a counterpart, else
//! skipped by name.

use airtcp_script::{Verdict, parse, run, skipped_settings};
use airtcp_tcp::Profile;

fn played(settings: &str, options: &str) -> (Verdict, Vec<String>) {
    let text = format!(
        "{settings}\n\
         +0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n\
         +0 bind(3, ..., ...) = 0\n\
         +0 listen(3, 1) = 0\n\
         +0 < S 0:0(0) win 20000 <mss 1000,sackOK,TS val 5 ecr 0>\n\
         +0 > S. 0:0(0) ack 1 <{options}>\n"
    );
    let script = parse("bsd.pkt", &text).unwrap();
    (
        run(&script, &Profile::Linux.config()),
        skipped_settings(&script),
    )
}

#[test]
fn settings_without_a_counterpart_are_skipped_by_name() {
    let settings = "`kldload -n tcp_rack`\n\
                    0.0 `sysctl kern.timecounter.alloweddeviation=0`\n\
                    +0 `sysctl -w net.inet.tcp.functions_default=freebsd`\n\
                    +0 `sysctl net.inet.tcp.hostcache.purgenow=1`";
    let (verdict, skipped) = played(settings, "mss 1460,sackOK,TS val 100 ecr 5");
    assert_eq!(verdict, Verdict::Passed);
    let names = [
        "kern.timecounter.alloweddeviation=0",
        "net.inet.tcp.functions_default=freebsd",
        "net.inet.tcp.hostcache.purgenow=1",
    ];
    assert_eq!(skipped, names);
}

#[test]
fn settings_with_a_counterpart_are_applied() {
    let settings = "0.0 `sysctl net.inet.tcp.sack.enable=0`\n\
                    +0 `sysctl net.inet.tcp.rfc1323=0`\n\
                    +0 `sysctl net.inet.tcp.cc.algorithm=newreno`";
    let (verdict, skipped) = played(settings, "mss 1460");
    assert_eq!(verdict, Verdict::Passed);
    assert!(skipped.is_empty());
    let (verdict, _) = played("0.0 `sysctl net.inet.tcp.cc.algorithm=chd`", "mss 1460");
    assert!(
        matches!(verdict, Verdict::Unsupported { .. }),
        "{verdict:?}"
    );
}
