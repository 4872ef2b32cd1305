//! The kin of ping.

use std::fmt::Write as _;
use std::io::Write as _;

use crate::series::*;

pub fn irtt_json() -> String {
    let probes: Vec<String> = (0_u64..)
        .zip(series())
        .map(|(number, rtt)| {
            let sent = 1_700_000_000_000_000_000 + number * 200_000_000;
            let (is_lost, delay, came) = rtt.map_or_else(
                || (true, String::new(), String::new()),
                |tenths| {
                    let nanos = tenths * 100_000;
                    let wall = sent + nanos;
                    (false, format!("\"rtt\": {nanos}"), format!("\"wall\": {wall}"))
                },
            );
            format!(
                "{{\"seqno\": {number}, \"lost\": \"{is_lost}\", \"delay\": {{{delay}}}, \"timestamps\": \
                 {{\"client\": {{\"send\": {{\"wall\": {sent}}}, \"receive\": {{{came}}}}}, \"server\": {{}}}}}}"
            )
        })
        .collect();
    format!(
        "{{\"version\": {{}}, \"round_trips\": [\n{}\n]}}",
        probes.join(",\n")
    )
}

pub fn flent(has_raw: bool) -> String {
    let value = |rtt: &Option<u64>| rtt.map_or_else(|| "null".to_owned(), ms);
    let values: Vec<String> = series().iter().map(value).collect();
    let steps: Vec<String> = (0..PROBES)
        .map(|number| format!("{}.{}", number / 5, number % 5 * 2))
        .collect();
    let raw: Vec<String> = (0..)
        .zip(series())
        .filter_map(|(number, rtt)| {
            let tenths = rtt?;
            let at = f64::from(number) * 0.2 + 1.7e9 + tenths as f64 / 1e4;
            Some(format!(
                "{{\"seq\": {number}, \"t\": {at:.6}, \"val\": {}}}",
                ms(tenths)
            ))
        })
        .collect();
    let raw = if has_raw {
        format!("\"Ping (ms) ICMP\": [{}]", raw.join(", "))
    } else {
        String::new()
    };
    format!(
        "{{\"version\": 4, \"metadata\": {{\"NAME\": \"rrul\"}}, \"x_values\": [{}], \"results\": {{\"Ping (ms) ICMP\": \
         [{}], \"TCP upload\": [null, 3.5]}}, \"raw_values\": {{{raw}}}}}",
        steps.join(", "),
        values.join(", ")
    )
}

pub fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

/// Each with its name, in tenths of a millisecond.
pub fn kin() -> Vec<(&'static str, String)> {
    let fping_list =
        written(|_, rtt| rtt.map_or_else(|| " -".to_owned(), |tenths| format!(" {}", ms(tenths))));
    let fping_json = written(|number, rtt| match rtt {
        Some(tenths) => format!(
            "{{\"resp\": {{\"host\": \"a\", \"seq\": {number}, \"size\": 64, \"rtt\": {}}}}}\n",
            ms(tenths)
        ),
        None => format!("{{\"timeout\": {{\"host\": \"a\", \"seq\": {number}}}}}\n"),
    });
    let irtt = written(|number, rtt| {
        rtt.map_or_else(String::new, |tenths| {
            format!("seq={number} rtt={}ms rd=9ms sd=9ms ipdv=n/a\n", ms(tenths))
        })
    });
    let routeros = written(|number, rtt| {
        let heading = if number % 20 == 0 {
            "  SEQ HOST          SIZE TTL TIME       STATUS\r\n"
        } else {
            ""
        };
        let row = match rtt {
            Some(tenths) => format!("56  57 {}ms{}us", tenths / 10, tenths % 10 * 100),
            None => "timeout".to_owned(),
        };
        format!("{heading}  {number:3} 192.0.2.9    {row}\r\n")
    });
    let mut nping = String::from("Starting Nping 0.7.93\n");
    for (number, rtt) in (0_u64..).zip(series()) {
        let sent = number * 2000;
        let seconds = |tenths: u64| format!("{}.{:04}", tenths / 10_000, tenths % 10_000);
        writeln!(nping, "SENT ({}s) ICMP [10.0.0.1 > 192.0.2.9 Echo request (type=8/code=0) id=4 seq={number}] IP [ttl=64]", seconds(sent)).unwrap();
        if let Some(tenths) = rtt {
            writeln!(nping, "RCVD ({}s) ICMP [192.0.2.9 > 10.0.0.1 Echo reply (type=0/code=0) id=4 seq={number}] IP [ttl=57]", seconds(sent + tenths)).unwrap();
        }
    }
    vec![
        ("fping -C", format!("192.0.2.9 :{fping_list}\n")),
        ("fping -J", fping_json),
        (
            "irtt",
            format!("[Connecting]\n{irtt}\npackets sent/received: 300/276 (8.00% loss)\n"),
        ),
        ("irtt -o", irtt_json()),
        ("flent, raw values", flent(true)),
        ("flent, steps", flent(false)),
        (
            "MikroTik",
            format!("{routeros}    sent=300 received=276 packet-loss=8%\r\n"),
        ),
        ("nping", nping),
    ]
}

#[test]
fn the_kin_of_ping_are_read_also_compressed() {
    for (name, text) in kin() {
        assert_read(text.as_bytes(), name, 100);
        assert_read(&gzip(text.as_bytes()), name, 100);
        let crlf = text.replace("\r\n", "\n").replace('\n', "\r\n");
        assert_read(crlf.as_bytes(), name, 100);
    }
}
