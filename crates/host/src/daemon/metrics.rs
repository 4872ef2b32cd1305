//! Numbers for Prometheus: a page in its text format, version 0.0.4, and its answer by HTTP.

use std::fmt::{Display, Write as _};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// Time allowed for a request.
const PATIENCE: Duration = Duration::from_secs(1);
/// Maximum length of a request, in bytes.
const MAX: u64 = 4096;

/// A page of numbers.
#[derive(Clone, Debug)]
pub struct Page {
    prefix: &'static str,
    labels: String,
    text: String,
}

impl Page {
    /// Creates an empty page, with names that start with `prefix` and carry these labels.
    pub fn new(prefix: &'static str, labels: &[(&str, &str)]) -> Self {
        let labels: Vec<_> = labels
            .iter()
            .map(|(name, value)| format!("{name}=\"{}\"", escaped(value)))
            .collect();
        Self {
            prefix,
            labels: if labels.is_empty() {
                String::new()
            } else {
                format!("{{{}}}", labels.join(","))
            },
            text: String::new(),
        }
    }

    /// Adds a number that only grows; its name ends in `_total`.
    pub fn counter(&mut self, name: &str, help: &str, value: impl Display) {
        self.put(&format!("{name}_total"), "counter", help, value);
    }

    /// Adds a number that may fall.
    pub fn gauge(&mut self, name: &str, help: &str, value: impl Display) {
        self.put(name, "gauge", help, value);
    }

    /// The page.
    pub fn into_text(self) -> String {
        self.text
    }

    fn put(&mut self, name: &str, kind: &str, help: &str, value: impl Display) {
        let name = format!("{}_{name}", self.prefix);
        // Writing to a string cannot fail.
        let _ = write!(
            self.text,
            "# HELP {name} {help}\n# TYPE {name} {kind}\n{name}{} {value}\n",
            self.labels
        );
    }
}

/// A label's value as the format quotes it.
fn escaped(value: &str) -> String {
    value
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

/// Answers a client: Prometheus requests a single page, which every client gets.
///
/// # Errors
///
/// The client is slow or gone.
pub fn answer(mut stream: TcpStream, page: impl FnOnce() -> String) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut lines = BufReader::new(Read::by_ref(&mut stream).take(MAX));
    let mut line = String::new();
    while lines.read_line(&mut line)? > 0 && !line.trim().is_empty() {
        line.clear();
    }
    let body = page();
    write!(
        stream,
        "HTTP/1.0 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: {}\r\n\r\n\
         {body}",
        body.len()
    )
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    /// The example of Prometheus's exposition formats: names, labels, quotes.
    #[test]
    fn a_page_has_the_form_of_the_format() {
        let mut page = Page::new("airtcp_test", &[("path", "C:\\DIR \"x\"\n")]);
        page.counter("packets", "Packets.", 7);
        page.gauge("share", "Their share.", 0.5);
        assert_eq!(
            page.into_text(),
            "# HELP airtcp_test_packets_total Packets.\n\
             # TYPE airtcp_test_packets_total counter\n\
             airtcp_test_packets_total{path=\"C:\\\\DIR \\\"x\\\"\\n\"} 7\n\
             # HELP airtcp_test_share Their share.\n\
             # TYPE airtcp_test_share gauge\n\
             airtcp_test_share{path=\"C:\\\\DIR \\\"x\\\"\\n\"} 0.5\n"
        );
    }

    #[test]
    fn a_client_gets_the_page_whatever_it_requests() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        client
            .write_all(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
            .unwrap();
        let (stream, _) = listener.accept().unwrap();
        answer(stream, || "a 1\n".to_owned()).unwrap();
        let mut said = String::new();
        client.read_to_string(&mut said).unwrap();
        let (head, body) = said.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.0 200 OK"), "{head}");
        assert!(head.contains("Content-Length: 4"), "{head}");
        assert_eq!(body, "a 1\n");
    }
}
