//! Errors of the real world: what was tried, what the system said, and what helps.

use std::fmt;
use std::io;

/// What failed, and what to do about it.
#[derive(Debug)]
pub struct Error {
    tried: String,
    cause: Option<io::Error>,
    remedy: Option<String>,
}

/// The result of something that touches the system.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Nothing of the system's: a request that cannot be met.
    pub fn new(tried: impl Into<String>) -> Self {
        Self {
            tried: tried.into(),
            cause: None,
            remedy: None,
        }
    }

    /// The system refused what is named by `tried`.
    pub fn system(tried: impl Into<String>, cause: impl Into<io::Error>) -> Self {
        Self {
            tried: tried.into(),
            cause: Some(cause.into()),
            remedy: None,
        }
    }

    /// The same, with what helps.
    #[must_use]
    pub fn remedied_by(self, remedy: impl Into<String>) -> Self {
        Self {
            remedy: Some(remedy.into()),
            ..self
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.tried)?;
        if let Some(cause) = &self.cause {
            write!(f, ": {cause}")?;
        }
        if let Some(remedy) = &self.remedy {
            write!(f, "; {remedy}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.cause.as_ref().map(|cause| cause as _)
    }
}

/// Says what was tried when the system refuses it.
pub trait Tried<T> {
    /// Names what was tried.
    ///
    /// # Errors
    ///
    /// The system's own, with `what` before it.
    fn tried(self, what: impl FnOnce() -> String) -> Result<T>;
}

impl<T, E: Into<io::Error>> Tried<T> for std::result::Result<T, E> {
    fn tried(self, what: impl FnOnce() -> String) -> Result<T> {
        self.map_err(|cause| Error::system(what(), cause))
    }
}
