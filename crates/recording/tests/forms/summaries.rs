//! Outputs with figures and without a line for each probe, and speed tests in words.

use airtcp_recording::{Bound, Direction, Recording, parse};

fn found(text: &str) -> Recording {
    parse(text.as_bytes(), "x").unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn refusal(text: &str) -> String {
    parse(text.as_bytes(), "x.log").unwrap_err().to_string()
}

fn micros(time: Option<airtcp_units::Duration>) -> u64 {
    time.map_or(0, |time| time.as_nanos() / 1000)
}

const IPUTILS: &str = "PING a (192.0.2.9) 56(84) bytes of data.\n\n--- a ping statistics ---\n40 \
                       packets transmitted, 37 received, 7.5% packet loss, time 7901ms\nrtt \
                       min/avg/max/mdev = 1.000/2.000/9.000/1.500 ms\n";
const BUSYBOX: &str = "PING a (192.0.2.9): 56 data bytes\n\n--- a ping statistics ---\n40 packets \
                       transmitted, 37 packets received, 7% packet loss\nround-trip min/avg/max = \
                       1.000/2.000/9.000 ms\n";
const FPING: &str = "192.0.2.9 : xmt/rcv/%loss = 40/37/7%, min/avg/max = 1.00/2.00/9.00\n";
const WINDOWS: &str = "Ping-Statistik f\u{fc}r 192.0.2.9:\r\n    Pakete: Gesendet = 40, \
                       Empfangen = \
                       37, Verloren = 3\r\n    (7% Verlust),\r\nCa. Zeitangaben in \
                       Millisek.:\r\n    \
                       Minimum = 1ms, Maximum = 9ms, Mittelwert = 2ms\r\n";
const CISCO: &str = "Sending 40, 100-byte ICMP Echos to 192.0.2.9, timeout is 2 seconds:\r\n\
                     !!!!!!!!!!!!!!!!!!!!!.!!!!!!!!!!!..!!!!!\r\nSuccess rate is 92 percent \
                     (37/40), \
                     round-trip min/avg/max = 1/2/9 ms\r\n";

/// Outputs that are damaged elsewhere.
pub const OUTPUTS: [&str; 6] = [IPUTILS, BUSYBOX, FPING, WINDOWS, CISCO, OOKLA];

#[test]
fn statistics_alone_have_figures_and_no_probes() {
    for text in [IPUTILS, BUSYBOX, FPING, WINDOWS, CISCO] {
        let one = found(text);
        assert!(one.probes.is_none(), "{text}");
        assert_eq!(micros(one.figures.least_rtt), 1000, "{text}");
        assert_eq!(micros(one.figures.mean_rtt), 2000, "{text}");
        assert_eq!(one.figures.losses, [(Direction::Unknown, 0.075)], "{text}");
        assert!(
            one.summary.contains("3 of 40 probes lost"),
            "{}",
            one.summary
        );
        assert!(
            one.remarks
                .iter()
                .any(|line| line.contains("neither percentiles"))
        );
    }
    assert!(found(CISCO).remarks[0].contains("Up to 2 probes in a row"));
}

#[test]
fn a_ping_without_any_answer_is_named() {
    for text in [
        "PING a (192.0.2.9) 56(84) bytes of data.\n\n--- a ping statistics ---\n3 packets \
         transmitted, 0 received, 100% packet loss, time 2042ms\n",
        "Sending 3, 100-byte ICMP Echos to 192.0.2.9, timeout is 2 seconds:\n...\nSuccess rate \
         is 0 \
         percent (0/3)\n",
        "Pinging a with 32 bytes of data:\r\nRequest timed out.\r\nRequest timed out.\r\nRequest \
         timed out.\r\n\r\nPing statistics for a:\r\n    Packets: Sent = 3, Received = 0, Lost = 3 \
         (100% loss),\r\n",
    ] {
        let said = refusal(text);
        assert!(
            said.contains("3 probes") && said.contains("answered"),
            "{said}"
        );
        assert!(said.contains("ping -D"), "{said}");
    }
}

/// hping3 writes its statistics to another output, which a file of both may have first.
#[test]
fn statistics_in_front_of_the_replies_belong_to_them() {
    let replies = (0..30).fold(String::new(), |text, number| {
        format!("{text}len=28 ip=192.0.2.9 ttl=64 id=5 icmp_seq={number} rtt=20.5 ms\n")
    });
    let text = format!(
        "\n--- a hping statistic ---\n32 packets transmitted, 30 packets received, 7% packet loss\n\
         round-trip min/avg/max = 20.5/20.5/20.5 ms\nHPING a (v0 192.0.2.9): icmp mode set, 28 \
         headers + 0 data bytes\n{replies}"
    );
    let log = found(&text).probes.unwrap();
    assert_eq!(
        (
            log.replies().len(),
            log.numbered() + log.unplaced(),
            log.lost()
        ),
        (30, 32, 2)
    );
}

#[test]
fn time_outs_with_a_number_are_counted_once() {
    let text = "PING a (192.0.2.9): 56 data bytes\n64 bytes from a: icmp_seq=0 ttl=254 time=1.2 \
                ms\n\
                Request 1 timed out\n64 bytes from a: icmp_seq=2 ttl=254 time=1.1 ms\n";
    let log = found(text).probes.unwrap();
    assert_eq!((log.numbered(), log.lost()), (3, 1));
}

const OOKLA: &str = "   Speedtest by Ookla\n\nIdle Latency:    20.00 ms   (jitter: 0.07ms)\n    \
                     Download:   122.60 Mbps (data used: 1.8 GB)   \n                 82.91 ms   \
                     (jitter: 9.50ms)\n      Upload:    14.28 Mbps (data used: 2 MB)\n             \
                     21.01 ms   (jitter: 8.14ms)\n Packet Loss:     0.5%\n";

#[test]
fn speed_tests_in_words_are_read() {
    let ookla = found(OOKLA);
    let of = |one: &Recording| -> Vec<(Direction, u64, Bound)> {
        one.rates
            .iter()
            .map(|rate| (rate.direction, rate.mean, rate.bound))
            .collect()
    };
    assert_eq!(
        of(&ookla),
        [
            (Direction::Down, 122_600_000, Bound::Link),
            (Direction::Up, 14_280_000, Bound::Transfer)
        ]
    );
    assert_eq!(micros(ookla.figures.loaded_down_rtt), 82_910);
    assert_eq!(ookla.figures.losses, [(Direction::Unknown, 0.005)]);
    let apple = found(
        "==== SUMMARY ====\nUplink capacity: 34.685 Mbps\nDownlink capacity: 225.857 Mbps\n\
         Responsiveness: Low (485.706 milliseconds | 123 RPM)\nIdle Latency: 38.958 milliseconds | \
         1540 RPM\n",
    );
    assert_eq!(apple.rates.len(), 2);
    assert_eq!(micros(apple.figures.idle_rtt), 38_958);
    let bytes = found("Ping: 23.4 ms\nDownload: 11.5 Mbyte/s\nUpload: 2.5 Mbyte/s\n");
    assert_eq!(bytes.rates[0].mean, 92_000_000);
    let fast = found(
        "{\"downloadSpeed\": 340, \"uploadSpeed\": 49, \"latency\": 10, \"bufferBloat\": 55}",
    );
    assert!(of(&fast).iter().all(|(_, _, bound)| *bound == Bound::Link));
    assert_eq!(
        found("  340 Mbps \u{2193} / 49 Mbps \u{2191}\n").rates[1].mean,
        49_000_000
    );
}

/// A spreadsheet in German, with commas as separators too.
#[test]
fn quoted_decimals_with_a_comma_are_read() {
    let text = "Uhrzeit,Antwortzeit in ms\n10:33:20,\"12,5\"\n10:33:21,\"13,25\"\n";
    let replies = found(text).probes.unwrap();
    assert_eq!(micros(Some(replies.replies()[1].round_trip)), 13_250);
    assert!(refusal("t,rtt_ms\n0,\"1,234\"\n").contains("line 2"));
}

#[test]
fn bytes_a_second_are_eight_times_the_bits() {
    for (name, bits) in [
        ("MB/s", 12_000_000),
        ("Mb/s", 1_500_000),
        ("kB/s", 12_000),
        ("bps", 2),
    ] {
        let one = found(&format!("time_s,{name}\n0,1.5\n1,1.5\n2,1.5\n"));
        assert_eq!(one.rates[0].mean, bits, "{name}");
        assert_eq!(one.assumptions.is_empty(), !name.contains('B'), "{name}");
    }
}
