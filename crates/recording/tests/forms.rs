//! One series of probes in the form of every program and language: each reads the same.

use std::fmt::Write as _;
use std::io::Write as _;

use airtcp_recording::{ProbeLog, parse};
use airtcp_units::Duration;

const PROBES: u64 = 300;
const LOST: usize = 24;

/// Round trips in tenths of a millisecond; every twelfth or so is lost.
fn series() -> Vec<Option<u64>> {
    let is_lost = |number: u64| number % 12 == 7 && number < 12 * LOST as u64;
    (0..PROBES)
        .map(|number| (!is_lost(number)).then_some(203 + number * 37 % 60))
        .collect()
}

fn ms(tenths: u64) -> String {
    format!("{}.{}", tenths / 10, tenths % 10)
}

fn read(bytes: &[u8], name: &str) -> ProbeLog {
    let found = parse(bytes, name).unwrap_or_else(|error| panic!("{name}: {error}"));
    found.probes.unwrap_or_else(|| panic!("{name}: no probes"))
}

fn assert_read(bytes: &[u8], name: &str, unit: u64) {
    let log = read(bytes, name);
    assert_eq!(log.lost(), LOST as u64, "{name}");
    let expected: Vec<Duration> = series()
        .into_iter()
        .flatten()
        .map(|tenths| Duration::from_micros(tenths * 100 / unit * unit))
        .collect();
    let found: Vec<Duration> = log.replies().iter().map(|one| one.round_trip).collect();
    assert_eq!(found, expected, "{name}");
}

/// The first part of a text, and the last that begins after a reply.
fn written(each: impl Fn(u64, Option<u64>) -> String) -> String {
    (0..)
        .zip(series())
        .map(|(number, rtt)| each(number, rtt))
        .collect()
}

/// Heading, reply up to the size, word and blank before the time, unit, time-outs, statistics.
const WINDOWS: [(&str, [&str; 6]); 13] = [
    (
        "English",
        [
            "Pinging 192.0.2.9 with 32 bytes of data:",
            "Reply from 192.0.2.9: bytes=32 time=",
            "ms",
            "Request timed out.",
            "Ping statistics for 192.0.2.9:",
            "    Packets: Sent = 300, Received = 276, Lost = 24 (8% loss),",
        ],
    ),
    (
        "German",
        [
            "Ping wird ausgeführt für 192.0.2.9 mit 32 Bytes Daten:",
            "Antwort von 192.0.2.9: Bytes=32 Zeit=",
            "ms",
            "Zeitüberschreitung der Anforderung.",
            "Ping-Statistik für 192.0.2.9:",
            "    Pakete: Gesendet = 300, Empfangen = 276, Verloren = 24\n    (8% Verlust),",
        ],
    ),
    (
        "French",
        [
            "Envoi d’une requête 'Ping'  192.0.2.9 avec 32 octets de données :",
            "Réponse de 192.0.2.9 : octets=32 temps=",
            " ms",
            "Délai d’attente de la demande dépassé.",
            "Statistiques Ping pour 192.0.2.9:",
            "    Paquets : envoyés = 300, reçus = 276, perdus = 24 (perte 8%),",
        ],
    ),
    (
        "Spanish",
        [
            "Haciendo ping a 192.0.2.9 con 32 bytes de datos:",
            "Respuesta desde 192.0.2.9: bytes=32 tiempo=",
            "ms",
            "Tiempo de espera agotado para esta solicitud.",
            "Estadísticas de ping para 192.0.2.9:",
            "    Paquetes: enviados = 300, recibidos = 276, perdidos = 24\n    (8% perdidos),",
        ],
    ),
    (
        "Italian",
        [
            "Esecuzione di Ping 192.0.2.9 con 32 byte di dati:",
            "Risposta da 192.0.2.9: byte=32 durata=",
            "ms",
            "Richiesta scaduta.",
            "Statistiche Ping per 192.0.2.9:",
            "    Pacchetti: Trasmessi = 300, Ricevuti = 276,\n    Persi = 24 (8% persi),",
        ],
    ),
    (
        "Portuguese",
        [
            "Disparando 192.0.2.9 com 32 bytes de dados:",
            "Resposta de 192.0.2.9: bytes=32 tempo=",
            "ms",
            "Esgotado o tempo limite do pedido.",
            "Estatísticas do Ping para 192.0.2.9:",
            "    Pacotes: Enviados = 300, Recebidos = 276, Perdidos = 24 (8% de\n             perda),",
        ],
    ),
    (
        "Polish",
        [
            "Badanie 192.0.2.9 z 32 bajtami danych:",
            "Odpowiedź z 192.0.2.9: bajtów=32 czas=",
            "ms",
            "Upłynął limit czasu żądania.",
            "Statystyka badania ping dla 192.0.2.9:",
            "    Pakiety: Wysłane = 300, Odebrane = 276, Utracone = 24\n             (8% straty),",
        ],
    ),
    (
        "Swedish",
        [
            "Skickar ping-signal till 192.0.2.9 med 32 byte data:",
            "Svar från 192.0.2.9: byte=32 tid=",
            "ms",
            "Begäran gjorde timeout.",
            "Ping-statistik för 192.0.2.9:",
            "    Paket: Skickade = 300, mottagna = 276, förlorade = 24 (8 %).",
        ],
    ),
    (
        "Russian",
        [
            "Обмен пакетами с 192.0.2.9 по с 32 байтами данных:",
            "Ответ от 192.0.2.9: число байт=32 время=",
            "мс",
            "Превышен интервал ожидания для запроса.",
            "Статистика Ping для 192.0.2.9:",
            "    Пакетов: отправлено = 300, получено = 276, потеряно = 24\n    (8% потерь)",
        ],
    ),
    (
        "Chinese",
        [
            "正在 Ping 192.0.2.9 具有 32 字节的数据:",
            "来自 192.0.2.9 的回复: 字节=32 时间=",
            "ms",
            "请求超时。",
            "192.0.2.9 的 Ping 统计信息:",
            "    数据包: 已发送 = 300，已接收 = 276，丢失 = 24 (8% 丢失)，",
        ],
    ),
    (
        "Korean",
        [
            "Ping 192.0.2.9 32바이트 데이터 사용:",
            "192.0.2.9의 응답: 바이트=32 시간=",
            "ms",
            "요청 시간이 만료되었습니다.",
            "192.0.2.9에 대한 Ping 통계:",
            "    패킷: 보냄 = 300, 받음 = 276, 손실 = 24 (8% 손실),",
        ],
    ),
    (
        "Japanese",
        [
            "192.0.2.9 に ping を送信しています 32 バイトのデータ:",
            "192.0.2.9 からの応答: バイト数 =32 時間 =",
            "ms",
            "要求がタイムアウトしました。",
            "192.0.2.9 の ping 統計:",
            "    パケット数: 送信 = 300、受信 = 276、損失 = 24 (8% の損失)、",
        ],
    ),
    (
        "Turkish, a language of no list",
        [
            "192.0.2.9 adresine 32 bayt veri ile ping atılıyor:",
            "192.0.2.9 adresinden yanıt: bayt=32 süre=",
            "ms",
            "İstek zaman aşımına uğradı.",
            "192.0.2.9 için Ping istatistiği:",
            "    Paket: Giden = 300, Gelen = 276, Kaybolan = 24 (%8 kayıp),",
        ],
    ),
];

fn windows(words: [&str; 6], is_closed: bool, time_to_live: &str) -> String {
    let [heading, reply, unit, timed_out, statistics, counts] = words;
    let body = written(|_, rtt| match rtt {
        Some(tenths) => format!("{reply}{}{unit}{time_to_live}\r\n", tenths / 10),
        None => format!("{timed_out}\r\n"),
    });
    let end = format!("\r\n{statistics}\r\n{counts}\r\n").replace('\n', "\r\n");
    let end = if is_closed { end } else { String::new() };
    format!("\r\n{heading}\r\n{body}{end}")
}

/// The text as a console's code page has it: a byte or two for each letter that is not ASCII.
fn in_code_page(text: &str, bytes: usize) -> Vec<u8> {
    let mut encoded = Vec::new();
    for letter in text.chars() {
        if letter.is_ascii() {
            encoded.push(letter as u8);
            continue;
        }
        let number = u32::from(letter);
        encoded.push(0x81 + (number % 0x7d) as u8);
        if bytes == 2 {
            // Second bytes of GBK and Shift-JIS are ASCII letters at times.
            encoded.push(0x40 + (number / 0x7d % 0x3e) as u8);
        }
    }
    encoded
}

#[test]
fn windows_is_read_in_every_language_and_code_page() {
    for (language, words) in WINDOWS {
        for is_closed in [true, false] {
            let text = windows(words, is_closed, " TTL=57");
            assert_read(text.as_bytes(), language, 1000);
            for bytes in [1, 2] {
                assert_read(&in_code_page(&text, bytes), language, 1000);
            }
            let units: Vec<u16> = text.encode_utf16().collect();
            let utf_16: Vec<u8> = [0xff, 0xfe]
                .into_iter()
                .chain(units.iter().flat_map(|unit| unit.to_le_bytes()))
                .collect();
            assert_read(&utf_16, language, 1000);
        }
        // Over IPv6 it prints neither size nor time to live.
        let (reply, time) = words[1].split_once("=32 ").unwrap();
        let (from, _) = reply.split_once(": ").unwrap();
        let reply = format!("{from}: {time}");
        let [heading, _, unit, timed_out, statistics, counts] = words;
        let bare = [heading, &reply, unit, timed_out, statistics, counts];
        let six = windows(bare, true, "").replace("192.0.2.9", "2001:db8::9");
        assert_read(six.as_bytes(), language, 1000);
    }
}

#[test]
fn two_runs_of_windows_are_both_counted() {
    for (language, words) in WINDOWS {
        let twice = windows(words, true, " TTL=57").repeat(2);
        let log = read(twice.as_bytes(), language);
        assert_eq!((log.numbered(), log.lost()), (600, 48), "{language}");
    }
}

#[test]
fn iputils_is_read_in_every_language() {
    let zh = "已发送 300 个包， 已接收 276 个包, 8% packet loss, time 59880ms";
    let cases = [
        (
            "English",
            "64 bytes from 192.0.2.9: icmp_seq=N ttl=57 time=T ms",
            "300 packets transmitted, 276 received, 8% packet loss, time 59880ms",
        ),
        (
            "old",
            "64 bytes from 192.0.2.9: icmp_req=N ttl=57 time=T ms",
            "300 packets transmitted, 276 received, 8% packet loss, time 59880ms",
        ),
        (
            "French",
            "64 octets de 192.0.2.9 : icmp_seq=N ttl=57 temps=T ms",
            "300 paquets transmis, 276 reçus, 8% packet loss, time 59880ms",
        ),
        (
            "Chinese",
            "64 字节，来自 192.0.2.9: icmp_seq=N ttl=57 时间=T 毫秒",
            zh,
        ),
        (
            "Russian",
            "64 байта из 192.0.2.9: icmp_seq=N ttl=57 время=T мс",
            "300 пакетов передано, 276 получено, 8% потерь, время 59880мс",
        ),
        (
            "BSD",
            "64 bytes from 192.0.2.9: icmp_seq=N ttl=57 time=T ms",
            "300 packets transmitted, 276 packets received, 8.0% packet loss",
        ),
        (
            "hping3",
            "len=44 ip=192.0.2.9 ttl=57 DF id=0 sport=443 flags=SA seq=N win=64240 rtt=T ms",
            "300 packets transmitted, 276 packets received, 8% packet loss",
        ),
    ];
    for (name, reply, counts) in cases {
        let body = written(|number, rtt| {
            rtt.map_or_else(String::new, |tenths| {
                let line = reply.replace('N', &number.to_string());
                // The letter on its own, not within a word.
                format!("{}\n", line.replace("=T", &format!("={}", ms(tenths))))
            })
        });
        assert_read(body.as_bytes(), name, 100);
        let closed = format!("PING 192.0.2.9 (192.0.2.9) 56(84) x\n{body}\n--- x ---\n{counts}\n");
        assert_read(closed.as_bytes(), name, 100);
        let decimal_comma = closed.replace(".1 ", ",1 ").replace(".2 ", ",2 ");
        assert_read(decimal_comma.as_bytes(), name, 100);
    }
}

#[test]
fn tcping_is_read() {
    let windows = written(|_, rtt| match rtt {
        Some(tenths) => format!(
            "Probing 192.0.2.9:443/tcp - Port is open - time={}ms \n",
            ms(tenths)
        ),
        None => "Probing 192.0.2.9:443/tcp - No response - time=2000.0ms \n".to_owned(),
    });
    assert_read(windows.as_bytes(), "tcping", 100);
    let other = written(|number, rtt| match rtt {
        Some(tenths) => format!(
            "Reply from 192.0.2.9 (192.0.2.9) on port 443 TCP_conn={} time={} ms\n",
            number + 1,
            ms(tenths)
        ),
        None => "No reply from 192.0.2.9 (192.0.2.9) on port 443 TCP_conn=4\n".to_owned(),
    });
    assert_read(other.as_bytes(), "tcping of Go", 100);
}

#[test]
fn csv_is_read_in_every_unit_and_with_every_word_for_a_loss() {
    for lost in [
        "", "-1", "NaN", "nan", "-", "*", "lost", "timeout", "N/A", "null",
    ] {
        let rows = |each: &dyn Fn(u64) -> String| {
            written(|number, rtt| {
                let value = rtt.map_or_else(|| lost.to_owned(), each);
                format!("{}.{},{value}\n", number / 5, number % 5 * 2)
            })
        };
        let milliseconds = rows(&|tenths| ms(tenths));
        assert_read(
            format!("time_s,rtt_ms\n{milliseconds}").as_bytes(),
            lost,
            100,
        );
        assert_read(
            format!("Time,Latency [ms]\n{milliseconds}").as_bytes(),
            lost,
            100,
        );
        let micros = rows(&|tenths| (tenths * 100).to_string());
        assert_read(format!("t,rtt_us\n{micros}").as_bytes(), lost, 100);
        let semicolons = milliseconds.replace(',', ";").replace('.', ",");
        assert_read(format!("Zeit;RTT (ms)\n{semicolons}").as_bytes(), lost, 100);
        let tabs = milliseconds.replace(',', "\t");
        assert_read(format!("time\tping\n{tabs}").as_bytes(), lost, 100);
    }
}

#[test]
fn rows_that_a_program_left_out_are_lost_probes() {
    let rows = written(|number, rtt| {
        rtt.map_or_else(String::new, |tenths| {
            format!("{},{}\n", number * 200_000, tenths * 100)
        })
    });
    assert_read(
        format!("ts_us,rtt_us\n{rows}").as_bytes(),
        "rows left out",
        100,
    );
}

fn irtt_json() -> String {
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

fn flent(has_raw: bool) -> String {
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

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

/// Each with its name, in tenths of a millisecond.
fn kin() -> Vec<(&'static str, String)> {
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

/// Cut anywhere, backwards, or with a byte another, each form is read or refused in one short line.
#[test]
fn damaged_recordings_end_well() {
    let all = kin();
    let windows = windows(WINDOWS[8].1, true, " TTL=57");
    let others = [("Windows", windows.as_str())];
    for (name, text) in all
        .iter()
        .map(|(name, text)| (*name, text.as_str()))
        .chain(others)
    {
        let bytes = text.as_bytes();
        let mut backwards: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
        backwards.reverse();
        let mut variants = vec![backwards.join(&b'\n')];
        for step in 1..40 {
            let at = bytes.len() * step / 40;
            variants.push(bytes[..at].to_vec());
            variants.push(bytes[at..].to_vec());
            for value in [0, b'9', b'-', b'"', 0xff] {
                let mut damaged = bytes.to_vec();
                damaged[at] = value;
                variants.push(damaged);
            }
            let packed = gzip(bytes);
            variants.push(packed[..packed.len() * step / 40].to_vec());
        }
        for variant in variants {
            if let Err(error) = parse(&variant, name) {
                let said = error.to_string();
                assert!(said.len() < 700 && !said.contains('\n'), "{said}");
            }
        }
    }
}

#[test]
fn what_holds_no_probes_is_named_with_the_command_that_takes_it() {
    let trace: String = (0..200).fold(String::new(), |text, number| {
        format!("{text}{}\n", number * 2)
    });
    let iperf = "Connecting to host a, port 5201\n[ ID] Interval           Transfer     Bitrate         Retr  Cwnd\n\
                 [  5]   0.00-10.00  sec   112 MBytes  94.1 Mbits/sec  120             sender\n\
                 [  5]   0.00-10.04  sec   110 MBytes  92.3 Mbits/sec                  receiver\n";
    let iperf_json = "{\"start\": {}, \"intervals\": [], \"end\": {\"sum_sent\": {\"bits_per_second\": 94100000.0, \
                      \"retransmits\": 120}, \"sum_received\": {\"bits_per_second\": 92300000.0}}}";
    let mtr = "Start: 2026-11-06T11:13:00\nHOST: a          Loss%   Snt   Last   Avg  Best  Wrst StDev\n\
               \u{20} 1.|-- 10.0.0.1   0.0%   300    1.1   1.2   0.9   8.1   0.4\n\
               \u{20} 2.|-- 192.0.2.9   8.0%   300   23.7  29.0  20.1 452.9  40.2\n";
    let tcpdump =
        "12:00:00.123456 IP 10.0.0.1.443 > 10.0.0.2.5001: Flags [.], ack 1, win 501, length 0\n";
    for (text, words) in [
        (
            trace.as_str(),
            &[
                "rate trace of mahimahi",
                "airtcp compare cellular --set link.trace.down=link.log",
            ][..],
        ),
        (
            iperf,
            &[
                "a test of iperf3 (94.1 Mbit/s, 120 retransmissions)",
                "airtcp measure",
            ],
        ),
        (
            iperf_json,
            &["a test of iperf3 (92.300 Mbit/s, 120 retransmissions)"],
        ),
        (
            mtr,
            &[
                "8.0% of 300 probes lost at the last hop, 29.0 ms",
                "ping -D",
            ],
        ),
        (
            "{\"report\": {\"mtr\": {\"src\": \"a\"}, \"hubs\": []}}",
            &["a report of mtr"],
        ),
        (tcpdump, &["the text of tcpdump", "-w FILE.pcap"]),
    ] {
        let said = parse(text.as_bytes(), "link.log").unwrap_err().to_string();
        for word in words {
            assert!(said.contains(word), "{said}");
        }
    }
    // Round trips in whole milliseconds are no trace, whatever their number.
    let rtts: String = (0..200).fold(String::new(), |text, number| {
        format!("{text}{}\n", 20 + number % 7)
    });
    assert_eq!(read(rtts.as_bytes(), "rtts").numbered(), 200);
}

/// Neither a reply nor nothing: a form that nobody has described is refused by its first line.
#[test]
fn replies_in_no_known_form_are_refused_by_their_line() {
    let body: String = (0..30).fold(String::new(), |text, number| {
        let reply = format!("64 bytes from a: icmp_seq={number} ttl=57 time=20.1 ms\n");
        format!("{text}{reply}pong {number} after 23 ms!\n")
    });
    let said = parse(format!("PING a (a) x\n{body}").as_bytes(), "x")
        .unwrap_err()
        .to_string();
    assert!(
        said.contains("line 3") && said.contains("pong 0 after 23 ms!"),
        "{said}"
    );
    // A few such lines are someone's notes.
    let few = "64 bytes from a: icmp_seq=0 ttl=57 time=20.1 ms\nwalked off, 23 ms before\n";
    assert_eq!(read(few.as_bytes(), "few").numbered(), 1);
}

#[test]
fn what_decompresses_to_more_than_fits_is_refused() {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let block = [b'1'; 1 << 20];
    for _ in 0..80 {
        encoder.write_all(&block).unwrap();
    }
    let said = parse(&encoder.finish().unwrap(), "big.gz")
        .unwrap_err()
        .to_string();
    assert!(said.contains("larger than 64 MiB"), "{said}");
}
