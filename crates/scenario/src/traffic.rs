//! Traffic of flows in place of bytes without end: files, pages of the web, e-mail.

use airtcp_units::Duration;

/// Traffic of a flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Traffic {
    /// Files.
    Ftp(Ftp),
    /// Pages of the web.
    Http(Http),
    /// E-mail.
    Email(Email),
    /// One connection that asks and is answered.
    Visit(Visit),
}

/// A request-response connection: its opener asks step by step, and closes after the last answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Visit {
    /// Each step's request follows when the answer before it has arrived.
    pub steps: &'static [VisitStep],
}

/// A request and its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VisitStep {
    /// Bytes of the request.
    pub request: u64,
    /// Bytes of the answer.
    pub answer: u64,
}

/// File transfers (Mahmoodi et al. §IV: 16 MB each).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ftp {
    /// Bytes of a file.
    pub size: u64,
    /// Whether the next follows when one has arrived; else the connection closes.
    pub repeat: bool,
}

/// Pages (Mahmoodi et al. §IV: a page every 60 s, 7 objects of 5 kB, all means of exponential
/// distributions).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Http {
    /// Mean time from the start of a page to the start of the next. A page that is late begins when
    /// the one before is complete.
    pub page_interval: Duration,
    /// Mean bytes of an object.
    pub object_size: f64,
    /// Mean number of objects of a page.
    pub objects: f64,
    /// Bytes of a request.
    pub request: u64,
    /// Whether all objects of a page are asked for at once; else each when the one before has
    /// arrived.
    pub pipelined: bool,
}

/// E-mail (Mahmoodi et al. §IV: 2 kB, every 120 s on average).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Email {
    /// Bytes of a message.
    pub size: u64,
    /// Mean time between messages, exponential.
    pub interval: Duration,
}
