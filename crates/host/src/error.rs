//! Errors of the real world: the attempt, the system's answer, and the remedy.

use std::fmt;
use std::io;

/// A failure, with a remedy.
#[derive(Debug)]
pub struct Error {
    tried: String,
    cause: Option<io::Error>,
    remedy: Option<String>,
}

/// The result of an operation on the system.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error without a system's answer: a request that cannot be met.
    pub fn new(tried: impl Into<String>) -> Self {
        Self {
            tried: tried.into(),
            cause: None,
            remedy: None,
        }
    }

    /// The system refused the operation named by `tried`.
    pub fn system(tried: impl Into<String>, cause: impl Into<io::Error>) -> Self {
        Self {
            tried: tried.into(),
            cause: Some(cause.into()),
            remedy: None,
        }
    }

    /// Adds a remedy after its present ones.
    #[must_use]
    pub fn remedied_by(self, remedy: impl Into<String>) -> Self {
        let added = remedy.into();
        let remedy = match self.remedy {
            Some(known) => format!("{known}; {added}"),
            None => added,
        };
        Self {
            remedy: Some(remedy),
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

/// Adds the attempted operation to a system error.
pub trait Tried<T> {
    /// Names the attempted operation.
    ///
    /// # Errors
    ///
    /// The system's error, preceded by `what`'s text.
    fn tried(self, what: impl FnOnce() -> String) -> Result<T>;
}

impl<T, E: Into<io::Error>> Tried<T> for std::result::Result<T, E> {
    fn tried(self, what: impl FnOnce() -> String) -> Result<T> {
        self.map_err(|cause| Error::system(what(), cause))
    }
}
