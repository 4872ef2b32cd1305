//! `--record`: the files written, reading them back, and disks that fail.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use pcap_file::pcapng::{Block, PcapNgReader};

use super::channel::{numbered, simulated};
use super::{PIPE, Scenario, airtcp_net, emulate, is_allowed, text};

const PACKETS: usize = 300;
const BYTES: usize = 100;

/// A packet's fields by column.
type Row = BTreeMap<String, String>;

/// The rows of the packets that carried numbers: the first ones, of the one flow there is.
fn rows(folder: &Path) -> Vec<Row> {
    let table = std::fs::read_to_string(folder.join("packets.csv")).unwrap();
    let mut lines = table.lines();
    let columns: Vec<&str> = lines.next().unwrap().split(',').collect();
    let row = |line: &str| -> Row {
        let fields: Vec<&str> = line.split(',').collect();
        assert_eq!(fields.len(), columns.len(), "{line}");
        let named = columns.iter().zip(fields);
        named
            .map(|(column, field)| ((*column).to_owned(), field.to_owned()))
            .collect()
    };
    lines.map(row).collect()
}

/// A number, or none in an empty field.
fn long(row: &Row, name: &str) -> Option<i64> {
    let field = &row[name];
    (!field.is_empty()).then(|| field.parse().unwrap())
}

fn is_text(row: &Row, name: &str, text: &str) -> bool {
    row[name] == text
}

/// The packets of a capture: their directions and lengths.
fn captured(path: &Path) -> Vec<usize> {
    let mut reader = PcapNgReader::new(File::open(path).unwrap()).unwrap();
    let mut lengths = Vec::new();
    while let Some(block) = reader.next_block() {
        if let Block::EnhancedPacket(packet) = block.unwrap() {
            lengths.push(packet.data.len());
        }
    }
    lengths
}

fn summary(folder: &Path) -> serde_json::Value {
    serde_json::from_slice(&std::fs::read(folder.join("summary.json")).unwrap()).unwrap()
}

/// The settings that a recording names.
fn settings(folder: &Path) -> Vec<(String, String)> {
    let found = summary(folder);
    let settings = found["replay"].as_array().unwrap().iter();
    settings
        .map(|setting| setting.as_str().unwrap().split_once('=').unwrap())
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect()
}

/// A pipe scenario without randomness, with the settings that a recording names.
fn replayed(folder: &Path) -> airtcp_scenario::Scenario {
    std::fs::write(folder.join("replay.toml"), PIPE).unwrap();
    airtcp_scenario::Scenario::load(&folder.join("replay.toml"), &settings(folder)).unwrap()
}

/// The table, both captures and the list of losses agree, and a scenario that reads the list loses
/// the same packets in virtual time, whatever its seed.
#[test]
fn a_recording_is_read_back() {
    if !is_allowed() {
        return;
    }
    let scenario = Scenario::new(&format!("{PIPE}[link.loss]\nrate = 0.1\n"));
    let folder = scenario.folder().join("recording");
    let seen = numbered(
        &scenario,
        &["--seed", "5", "--record", "recording"],
        PACKETS,
        BYTES,
    );
    assert!(seen.len() < PACKETS);

    let all = rows(&folder);
    // Replies of the other end's kernel, where the last datagrams found no listener, go down.
    let (up, down): (Vec<&Row>, Vec<&Row>) = all.iter().partition(|row| is_text(row, "way", "up"));
    for (place, row) in up.iter().enumerate() {
        assert_eq!(long(row, "number"), Some(place as i64));
        let left = long(row, "left_ns").map(|left| left - long(row, "arrived_ns").unwrap());
        // A packet lost by the link is lost when the link takes it.
        assert!(left.is_none_or(|left| left >= 0), "{row:?}");
        let is_seen = place >= PACKETS || seen.contains(&place);
        if place < PACKETS {
            assert_eq!(is_text(row, "fate", "delivered"), is_seen, "{row:?}");
            assert_eq!(is_text(row, "fate", "lost"), !is_seen, "{row:?}");
            assert_eq!(long(row, "bytes"), Some(BYTES as i64));
        }
        if is_text(row, "fate", "delivered") {
            // A byte takes 160 ns at 50 Mbit/s, and 10 ms to the other end.
            let least = 10_000_000 + 160 * long(row, "bytes").unwrap();
            assert!(left.unwrap() >= least, "{row:?}");
            assert!(long(row, "delivered_ns") >= long(row, "left_ns"), "{row:?}");
        }
        assert!(is_text(row, "direction", "data"));
        assert_eq!(long(row, "retries"), None, "a pipe makes no attempts");
    }
    let delivered = |rows: &[&Row]| {
        let rows = rows.iter();
        rows.filter(|row| is_text(row, "fate", "delivered")).count()
    };
    assert_eq!(
        captured(&folder.join("stations.pcapng")).len(),
        up.len() + delivered(&down)
    );
    assert_eq!(
        captured(&folder.join("server.pcapng")).len(),
        down.len() + delivered(&up)
    );
    assert_eq!(summary(&folder)["up"]["taken"], up.len());

    // As it is, by the settings over another scenario, and by the settings over the recorded
    // scenario, replacing its losses.
    let load = |path: &Path, settings: &[(String, String)]| {
        airtcp_scenario::Scenario::load(path, settings).unwrap()
    };
    let recorded = load(&folder.join("scenario.toml"), &[]);
    std::fs::copy(scenario.path(), folder.join("recorded.toml")).unwrap();
    let over_itself = load(&folder.join("recorded.toml"), &settings(&folder));
    for again in [recorded, replayed(&folder), over_itself] {
        let again = simulated(&again, 99, PACKETS, BYTES);
        let again: Vec<usize> = again.into_iter().map(|(_, number)| number).collect();
        assert_eq!(again, seen);
    }
}

/// Over a cellular trace the command is at the mobile, so that its data takes the uplink, unlike
/// the scenario's; `--at` overrides this, and the summary names the ends.
#[test]
fn the_command_is_at_the_mobile() {
    if !is_allowed() {
        return;
    }
    let scenario = Scenario::new(
        "topology = \"pipe\"\n[link]\ndelay = \"1 ms\"\n\
         trace = { down = \"down\", up = \"up\" }\n",
    );
    for name in ["down", "up"] {
        std::fs::write(scenario.folder().join(name), "1\n2\n").unwrap();
    }
    for (at, direction, ends) in [
        (&[][..], "acks", "up (mobile to server)"),
        (&["--at", "receiver"], "acks", "up (receiver to sender)"),
        (&["--at", "sender"], "data", "up (sender to receiver)"),
    ] {
        let output = airtcp_net()
            .arg("emulate")
            .arg(scenario.path())
            .args(at)
            .args([
                "--record",
                "recording",
                "--server",
                "true",
                "--",
                "python3",
                "-c",
            ])
            .arg(
                "import os,socket\ns=socket.socket(socket.AF_INET,socket.SOCK_DGRAM)\n\
                 for _ in range(9): s.sendto(bytes(9),(os.environ['AIRTCP_SERVER'],4000))",
            )
            .current_dir(scenario.folder())
            .output()
            .unwrap();
        let said = text(&output.stderr);
        assert!(output.status.success() && said.contains(ends), "{said}");
        let all = rows(&scenario.folder().join("recording"));
        let up: Vec<_> = all.iter().filter(|row| is_text(row, "way", "up")).collect();
        assert!(up.len() >= 9, "{}", up.len());
        assert!(
            up.iter().all(|row| is_text(row, "direction", direction)),
            "{at:?}"
        );
    }
    let pipe = Scenario::new(PIPE);
    let refused = emulate(&pipe, &["--at", "mobile"], "true", "true");
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("without a mobile"));
}

/// Random stops become a list: the link that reads it delivers at the same times.
#[test]
fn recorded_stops_stop_the_replay_at_the_same_times() {
    if !is_allowed() {
        return;
    }
    for packets in ["held", "wait"] {
        let scenario = Scenario::new(&format!(
            "{PIPE}[link.stops]\nprocess = \"random\"\nworking = \"50 ms\"\nlength = \"30 ms\"\n\
             packets = \"{packets}\"\n"
        ));
        let folder = scenario.folder().join("recording");
        numbered(
            &scenario,
            &["--seed", "4", "--record", "recording"],
            PACKETS,
            BYTES,
        );
        let drawn = airtcp_scenario::Scenario::load(&scenario.path(), &[]).unwrap();
        let first = simulated(&drawn, 4, PACKETS, BYTES);
        let again = simulated(&replayed(&folder), 99, PACKETS, BYTES);
        assert_eq!(again, first, "{packets}");
        let smooth = simulated(
            &airtcp_scenario::Scenario::load(&Scenario::new(PIPE).path(), &[]).unwrap(),
            99,
            PACKETS,
            BYTES,
        );
        assert_ne!(again, smooth, "{packets}: no stop was met");
    }
}

/// Attempts on a medium are in the table.
#[test]
fn retries_are_recorded() {
    if !is_allowed() {
        return;
    }
    let scenario = Scenario::new(
        "topology = \"wlan\"\n[wlan]\nretry_limit = \"unlimited\"\nqueue.packets = 1000\n\
         [wlan.loss]\n\
         model = \"iid\"\nrate = 0.3\n[flows]\ndirection = \"up\"\n",
    );
    let seen = numbered(&scenario, &["--record", "recording"], PACKETS, BYTES);
    assert_eq!(seen.len(), PACKETS);
    let folder = scenario.folder().join("recording");
    let retries: i64 = rows(&folder)
        .iter()
        .take(PACKETS)
        .map(|row| long(row, "retries").unwrap())
        .sum();
    // 3/7 per packet on average: 129 of 300, and five of its deviations either way.
    assert!((60..=200).contains(&retries), "{retries}");
    assert_eq!(summary(&folder)["replay"], serde_json::json!([]));
    // Losses of a medium have no numbers: the scenario of the recording draws them again.
    let again = airtcp_scenario::Scenario::load(&folder.join("scenario.toml"), &[]).unwrap();
    let again = simulated(&again, 1, PACKETS, BYTES);
    assert_eq!(again.len(), PACKETS);
}

/// A full disk gives one error at the end, and the command has had its link.
#[test]
fn a_full_disk_does_not_stop_the_link() {
    if !is_allowed() || !Path::new("/dev/full").exists() {
        return;
    }
    let scenario = Scenario::new(PIPE);
    for name in ["server.pcapng", "packets.csv"] {
        let folder = scenario.folder().join("recording");
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir(&folder).unwrap();
        std::os::unix::fs::symlink("/dev/full", folder.join(name)).unwrap();
        let output = emulate(
            &scenario,
            &["--record", "recording"],
            "python3 -c \"import socket; s=socket.create_server(('0.0.0.0',4000)); \
             open('ready','w').close(); c,a=s.accept(); c.sendall(b'x'*1000000)\"",
            "while ! test -e ready; do sleep 0.01; done; python3 -c \"import os,socket; \
             c=socket.create_connection((os.environ['AIRTCP_SERVER'],4000)); n=0\nwhile \
             d:=c.recv(65536): n+=len(d)\nprint(n)\"; rm ready",
        );
        let error = text(&output.stderr);
        assert_eq!(text(&output.stdout), "1000000", "{error}");
        assert_eq!(output.status.code(), Some(1), "{error}");
        assert_eq!(error.lines().count(), 1, "{error}");
        assert!(
            error.contains(name) && error.contains("free some space"),
            "{error}"
        );
    }
}

#[test]
fn a_folder_that_cannot_be_made_is_an_error_before_anything_runs() {
    if !is_allowed() {
        return;
    }
    let scenario = Scenario::new(PIPE);
    let output = airtcp_net()
        .args(["emulate", "--quiet", "--record"])
        .arg(scenario.path().join("below-a-file"))
        .arg(scenario.path())
        .args(["--", "echo", "ran"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(text(&output.stdout), "");
    assert!(text(&output.stderr).contains("cannot make the folder"));
}
