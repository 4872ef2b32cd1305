//! PowerShell's Test-Connection and Sysinternals' psping.

use airtcp_recording::parse;

use crate::series::*;

/// PowerShell prints whole milliseconds.
const WHOLE: u64 = 1000;

fn table() -> String {
    let rows = written(|number, rtt| {
        let number = number + 1;
        match rtt {
            Some(tenths) => format!(
                "{number:4} ADMIN1           192.0.2.9   {:>20}         32 Success\r\n",
                tenths / 10
            ),
            None => format!(
                "{number:4} ADMIN1           *   {:>20}          * TimedOut\r\n",
                '*'
            ),
        }
    });
    format!(
        "\r\n   Destination: Server01\r\n\r\n\
         Ping Source           Address                   Latency BufferSize Status\r\n\
         \x20                                                  (ms)        (B)\r\n\
         ---- ------           -------                   ------- ---------- ------\r\n{rows}\r\n"
    )
}

fn old_table() -> String {
    let rows = written(|_, rtt| match rtt {
        Some(tenths) => format!(
            "ADMIN-1       Server01        192.0.2.9                       32       {}\r\n",
            tenths / 10
        ),
        None => "Test-Connection : Testing connection to computer 'Server01' failed: Error due to \
                 lack of resources\r\nAt line:1 char:1\r\n+ Test-Connection Server01\r\n+ \
                 ~~~~~\r\n    \
                 + CategoryInfo          : ResourceUnavailable: (Server01:String)\r\n \r\n"
            .to_owned(),
    });
    format!(
        "\r\nSource        Destination     IPV4Address      IPV6Address         Bytes    \
         Time(ms) \r\n\
         ------        -----------     -----------      -----------         -----    \
         -------- \r\n{rows}"
    )
}

fn list(is_old: bool) -> String {
    let body = written(|number, rtt| {
        let time = rtt.map_or(0, |tenths| tenths / 10);
        if is_old {
            let (time, code) = rtt.map_or_else(
                || (String::new(), "11010"),
                |tenths| ((tenths / 10).to_string(), "0"),
            );
            return format!(
                "Address        : Server01\r\nResponseTime   : {time}\r\nStatusCode     : \
                 {code}\r\n\r\n"
            );
        }
        let status = rtt.map_or("TimedOut", |_| "Success");
        format!(
            "Ping           : {}\r\nLatency        : {time}\r\nDisplayAddress : 192.0.2.9\r\n\
             BufferSize     : 32\r\nStatus         : {status}\r\nSource         : ADMIN1\r\n\
             Destination    : Server01\r\n\r\n",
            number + 1
        )
    });
    format!("\r\n\r\n{body}")
}

fn csv(separator: &str) -> String {
    let rows = written(|number, rtt| {
        let status = rtt.map_or("TimedOut", |_| "Success");
        let time = rtt.map_or(0, |tenths| tenths / 10);
        let fields = [
            &number.to_string(),
            &time.to_string(),
            "192.0.2.9",
            "32",
            status,
            "Server01",
        ]
        .map(|field| format!("\"{field}\""));
        format!("{}\r\n", fields.join(separator))
    });
    let names = [
        "Ping",
        "Latency",
        "DisplayAddress",
        "BufferSize",
        "Status",
        "Destination",
    ];
    let names = names.map(|name| format!("\"{name}\"")).join(separator);
    format!("{names}\r\n{rows}")
}

fn old_csv() -> String {
    let rows = written(|_, rtt| match rtt {
        Some(tenths) => format!("\"ADMIN-1\",\"Server01\",\"{}\",\"0\"\r\n", tenths / 10),
        None => "\"ADMIN-1\",\"Server01\",,\"11010\"\r\n".to_owned(),
    });
    format!(
        "#TYPE System.Management.ManagementObject#root\\cimv2\\Win32_PingStatus\r\n\
         \"PSComputerName\",\"Address\",\"ResponseTime\",\"StatusCode\"\r\n{rows}"
    )
}

fn psping(is_icmp: bool) -> String {
    let probes = written(|_, rtt| match (is_icmp, rtt) {
        (true, Some(tenths)) => format!("Reply from 192.0.2.9: {}0ms\r\n", ms(tenths)),
        (true, None) => "Request timed out.\r\n".to_owned(),
        (false, Some(tenths)) => {
            format!(
                "Connecting to 192.0.2.9:443: from 10.0.0.1:60650: {}0ms\r\n",
                ms(tenths)
            )
        }
        (false, None) => "Connecting to 192.0.2.9:443: \r\nThis operation returned because the \
                          timeout period expired.\r\n"
            .to_owned(),
    });
    let heading = if is_icmp {
        "Pinging 192.0.2.9 with 32 bytes of data:\r\n301 iterations (warmup 1) ping test:\r\n\
         Reply from 192.0.2.9 (warmup): 9.99ms\r\n"
    } else {
        "TCP connect to 192.0.2.9:443:\r\n301 iterations (warmup 1) ping test:\r\n\
         Connecting to 192.0.2.9:443 (warmup): from 10.0.0.1:60649: 9.99ms\r\n"
    };
    format!(
        "\r\nPsPing v2.10 - PsPing - ping, latency, bandwidth measurement \
         utility\r\n{heading}{probes}\
         \r\n  Sent = 300, Received = 276, Lost = 24 (8% loss),\r\n  Minimum = 20.30ms, Maximum = \
         26.20ms, Average = 23.00ms\r\n"
    )
}

/// Each with its name and the unit of its round trips in microseconds.
pub fn tools() -> Vec<(&'static str, String, u64)> {
    vec![
        ("PowerShell 7's table", table(), WHOLE),
        ("Windows PowerShell's table", old_table(), WHOLE),
        ("PowerShell 7's list", list(false), WHOLE),
        ("Windows PowerShell's list", list(true), WHOLE),
        ("PowerShell 7's CSV", csv(","), WHOLE),
        ("PowerShell 7's CSV of a German Windows", csv(";"), WHOLE),
        ("Windows PowerShell's CSV", old_csv(), WHOLE),
        ("psping over TCP", psping(false), 100),
        ("psping over ICMP", psping(true), 100),
    ]
}

#[test]
fn tools_of_windows_are_read_also_as_utf_16() {
    for (name, text, unit) in tools() {
        assert_read(text.as_bytes(), name, unit);
        let wide: Vec<u8> = "\u{feff}"
            .encode_utf16()
            .chain(text.encode_utf16())
            .flat_map(u16::to_le_bytes)
            .collect();
        assert_read(&wide, name, unit);
        assert_read(text.replace("\r\n", "\n").as_bytes(), name, unit);
    }
}

#[test]
fn probes_of_two_hosts_are_refused() {
    for text in [table(), csv(",")] {
        let two = text.clone() + &text.replace("Server01", "Server02");
        let said = parse(two.as_bytes(), "x").unwrap_err().to_string();
        assert!(said.contains("the probes of one host"), "{said}");
    }
}
