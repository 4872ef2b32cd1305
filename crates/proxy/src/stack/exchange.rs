//! HTTP/1.1 requests (RFC 9112) on one connection, for files of one folder.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::{Component, Path, PathBuf};

use airtcp_endpoint::{ConnectionId, Endpoint};
use percent_encoding::percent_decode_str;

/// Maximum length of a request's header.
const MAX_HEAD: usize = 16 << 10;
/// Limit on the header fields of a request.
const MAX_FIELDS: usize = 64;
/// Limit on the bytes read from a file at a time.
const PIECE: usize = 1 << 18;

/// Whether a connection is still needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// It waits for the peer.
    Waits,
    /// It can be released.
    Over,
}

/// The state of a connection.
#[derive(Debug)]
enum State {
    /// A request is awaited, possibly with a part received.
    Head,
    /// The body of a request is written into a file, or discarded.
    Body { left: u64, into: Option<File> },
    /// A file, or a page, is sent.
    Answer { left: u64, from: Option<File> },
}

/// The requests on one connection.
#[derive(Debug)]
pub(super) struct Exchange {
    root: PathBuf,
    stores: bool,
    state: State,
    head: Vec<u8>,
    /// Bytes to be written before a file.
    held: Vec<u8>,
    written: usize,
    /// Whether the connection ends with the response.
    is_last: bool,
}

/// The relevant parts of a request.
#[derive(Debug)]
struct Request {
    method: String,
    path: PathBuf,
    body: u64,
    expects_continue: bool,
    is_last: bool,
}

impl Exchange {
    /// Creates the state before the first request. Files are in `root`; `stores` permits PUT.
    pub fn new(root: PathBuf, stores: bool) -> Self {
        Self {
            root,
            stores,
            state: State::Head,
            head: Vec::new(),
            held: Vec::new(),
            written: 0,
            is_last: false,
        }
    }

    /// Continues until it would block.
    pub fn go_on(&mut self, endpoint: &mut Endpoint, id: ConnectionId) -> Progress {
        loop {
            let Ok(readiness) = endpoint.readiness(id) else {
                return Progress::Over;
            };
            if readiness.ended.is_some() {
                return Progress::Over;
            }
            let moved = match &self.state {
                State::Head => self.read_head(endpoint, id),
                State::Body { .. } => self.read_body(endpoint, id),
                State::Answer { .. } => self.write_answer(endpoint, id),
            };
            match moved {
                Some(true) => {}
                Some(false) => return Progress::Waits,
                None => return Progress::Over,
            }
        }
    }

    /// Returns whether there is a complete head; `None` if there will be no more.
    fn read_head(&mut self, endpoint: &mut Endpoint, id: ConnectionId) -> Option<bool> {
        let head = &mut self.head;
        let taken = endpoint.read_with(id, |pieces| {
            let mut taken = 0;
            for piece in pieces {
                for &byte in piece {
                    if head.ends_with(b"\r\n\r\n") || head.len() >= MAX_HEAD {
                        return taken;
                    }
                    head.push(byte);
                    taken += 1;
                }
            }
            taken
        });
        taken.ok()?;
        if self.head.ends_with(b"\r\n\r\n") {
            let head = std::mem::take(&mut self.head);
            self.take_request(&head);
            return Some(true);
        }
        if self.head.len() >= MAX_HEAD {
            self.answer_text(
                "431 Request Header Fields Too Large",
                "the head is too long\n",
            );
            self.is_last = true;
            return Some(true);
        }
        let is_finished = endpoint.stream(id)?.connection().receiver().is_finished();
        if is_finished { None } else { Some(false) }
    }

    fn take_request(&mut self, head: &[u8]) {
        match parse(head) {
            Ok(request) => {
                self.is_last = request.is_last;
                match request.method.as_str() {
                    "GET" | "HEAD" => self.answer_file(&request),
                    "PUT" if self.stores => self.begin_upload(&request),
                    _ => self.refuse("405 Method Not Allowed"),
                }
            }
            Err(status) => self.refuse(status),
        }
    }

    /// Refuses a request without reading its rest: the connection ends with the response.
    fn refuse(&mut self, status: &str) {
        self.is_last = true;
        self.answer_text(status, "");
    }

    fn answer_file(&mut self, request: &Request) {
        let path = self.root.join(&request.path);
        let is_wanted = request.method == "GET";
        if path.is_dir() {
            let page = list(&path).unwrap_or_default();
            let kind = "200 OK\r\nContent-Type: text/html; charset=utf-8";
            self.answer(kind, page.len() as u64, None);
            if is_wanted {
                self.held.extend(page.as_bytes());
            }
            return;
        }
        let opened = File::open(&path).and_then(|file| Ok((file.metadata()?.len(), file)));
        match opened {
            Ok((length, file)) => {
                let kind = "200 OK\r\nContent-Type: application/octet-stream";
                self.answer(kind, length, is_wanted.then_some(file));
            }
            Err(_) => self.answer_text("404 Not Found", "there is no such file\n"),
        }
    }

    fn begin_upload(&mut self, request: &Request) {
        match File::create(self.root.join(&request.path)) {
            Ok(file) => {
                if request.expects_continue {
                    self.held.extend(b"HTTP/1.1 100 Continue\r\n\r\n");
                }
                self.state = State::Body {
                    left: request.body,
                    into: Some(file),
                };
            }
            Err(_) => self.refuse("409 Conflict"),
        }
    }

    /// Returns whether the body is complete.
    fn read_body(&mut self, endpoint: &mut Endpoint, id: ConnectionId) -> Option<bool> {
        self.write_held(endpoint, id)?;
        let State::Body { left, into } = &mut self.state else {
            return Some(true);
        };
        let mut failed = false;
        let most = usize::try_from(*left).unwrap_or(usize::MAX);
        let taken = endpoint.read_with(id, |pieces| {
            let mut taken = 0;
            for piece in pieces {
                let piece = &piece[..piece.len().min(most - taken)];
                taken += piece.len();
                if let Some(file) = into {
                    failed |= file.write_all(piece).is_err();
                }
            }
            taken
        });
        let taken = taken.ok()?;
        *left -= taken as u64;
        if failed {
            *into = None;
        }
        if *left == 0 {
            let status = if into.is_some() {
                "201 Created"
            } else {
                "507 Insufficient Storage"
            };
            self.answer_text(status, "");
            return Some(true);
        }
        let is_finished = endpoint.stream(id)?.connection().receiver().is_finished();
        if is_finished && taken == 0 {
            None
        } else {
            Some(false)
        }
    }

    /// Writes the held bytes; returns whether all are written.
    fn write_held(&mut self, endpoint: &mut Endpoint, id: ConnectionId) -> Option<bool> {
        while self.written < self.held.len() {
            match endpoint.write(id, &self.held[self.written..]).ok()? {
                0 => return Some(false),
                count => self.written += count,
            }
        }
        self.held.clear();
        self.written = 0;
        Some(true)
    }

    /// Returns whether the response is complete; `None` if the connection ends with it.
    fn write_answer(&mut self, endpoint: &mut Endpoint, id: ConnectionId) -> Option<bool> {
        loop {
            if !self.write_held(endpoint, id)? {
                return Some(false);
            }
            let State::Answer { left, from } = &mut self.state else {
                return Some(true);
            };
            let Some(file) = from.as_mut().filter(|_| *left > 0) else {
                self.state = State::Head;
                return if self.is_last { None } else { Some(true) };
            };
            // An event reports when there is room again.
            if !endpoint.readiness(id).ok()?.writable {
                return Some(false);
            }
            let wanted = usize::try_from(*left).unwrap_or(usize::MAX).min(PIECE);
            let read = endpoint.write_with(id, wanted, |space| file.read(space).unwrap_or(0));
            // A file that shrank truncates the response: the peer sees that it is incomplete.
            *left -= read.ok().filter(|&read| read > 0)? as u64;
        }
    }

    fn answer_text(&mut self, status: &str, text: &str) {
        let head = format!("{status}\r\nContent-Type: text/plain; charset=utf-8");
        self.answer(&head, text.len() as u64, None);
        self.held.extend(text.as_bytes());
    }

    fn answer(&mut self, head: &str, length: u64, from: Option<File>) {
        let last = if self.is_last { "close" } else { "keep-alive" };
        let head =
            format!("HTTP/1.1 {head}\r\nContent-Length: {length}\r\nConnection: {last}\r\n\r\n");
        self.held.extend(head.as_bytes());
        self.state = State::Answer { left: length, from };
    }
}

/// Parses the header of a request, or returns the status of its refusal.
fn parse(head: &[u8]) -> Result<Request, &'static str> {
    const BAD: &str = "400 Bad Request";
    let mut fields = [httparse::EMPTY_HEADER; MAX_FIELDS];
    let mut parsed = httparse::Request::new(&mut fields);
    if !parsed.parse(head).is_ok_and(|status| status.is_complete()) {
        return Err(BAD);
    }
    let field = |name: &str| {
        let mut values = parsed.headers.iter();
        let found = values.find(|field| field.name.eq_ignore_ascii_case(name));
        found.map(|field| {
            String::from_utf8_lossy(field.value)
                .trim()
                .to_ascii_lowercase()
        })
    };
    if field("transfer-encoding").is_some() {
        return Err("411 Length Required");
    }
    let body = match field("content-length") {
        Some(length) => length.parse().map_err(|_| BAD)?,
        None => 0,
    };
    let method = parsed.method.unwrap_or_default().to_owned();
    if body > 0 && method != "PUT" {
        return Err("413 Content Too Large");
    }
    let is_last = match field("connection") {
        Some(wish) => wish == "close",
        None => parsed.version == Some(0),
    };
    Ok(Request {
        method,
        path: place(parsed.path.unwrap_or_default()).ok_or(BAD)?,
        body,
        expects_continue: field("expect").is_some_and(|wish| wish == "100-continue"),
        is_last,
    })
}

/// The file in the folder denoted by a request's path; `None` if it would be outside.
fn place(path: &str) -> Option<PathBuf> {
    let path = path.split(['?', '#']).next()?;
    let path = percent_decode_str(path).decode_utf8().ok()?;
    let mut place = PathBuf::new();
    for part in Path::new(path.as_ref()).components() {
        match part {
            Component::Normal(name) => place.push(name),
            Component::RootDir | Component::CurDir => {}
            Component::ParentDir | Component::Prefix(_) => return None,
        }
    }
    (!path.contains('\0')).then_some(place)
}

/// A page with the names in a folder.
fn list(folder: &Path) -> std::io::Result<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)?
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let slash = if entry.path().is_dir() { "/" } else { "" };
            Some(entry.file_name().into_string().ok()? + slash)
        })
        .collect();
    names.sort();
    let mut page = "<!doctype html><meta charset=utf-8><ul>\n".to_owned();
    for name in names {
        let text = name
            .replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('"', "&quot;");
        let link = percent_encoding::utf8_percent_encode(&name, percent_encoding::NON_ALPHANUMERIC);
        page += &format!("<li><a href=\"./{link}\">{text}</a>\n");
    }
    Ok(page + "</ul>\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_in_the_folder() {
        let at = |path| place(path).map(|place| place.to_string_lossy().into_owned());
        assert_eq!(at("/"), Some(String::new()));
        assert_eq!(at("/a/b%20c?x=1#y"), Some("a/b c".to_owned()));
        assert_eq!(at("/a/./b"), Some("a/b".to_owned()));
        for path in ["/..", "/a/../../b", "/%2e%2e/etc/passwd", "/a%00b", "/%ff"] {
            assert_eq!(at(path), None, "{path}");
        }
    }

    /// RFC 9112 §6 and RFC 9110 §10.1.1.
    #[test]
    fn heads_are_read_or_refused() {
        let head = b"PUT /f HTTP/1.1\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n";
        let request = parse(head).unwrap();
        assert_eq!((request.body, request.expects_continue), (5, true));
        assert!(!request.is_last);
        assert!(parse(b"GET / HTTP/1.0\r\n\r\n").unwrap().is_last);
        for (head, status) in [
            (&b"GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n"[..], "400"),
            (b"GET / HTTP/1.1\r\nContent-Length: 5\r\n\r\n", "413"),
            (
                b"PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
                "411",
            ),
            (b"\x16\x03\x01\r\n\r\n", "400"),
        ] {
            assert!(parse(head).unwrap_err().starts_with(status));
        }
    }
}
