//! Exports of the findings: a summary, a capture with comments.

mod annotate;
mod summary;
#[cfg(test)]
mod tests;

pub use annotate::{AnnotateError, annotate};
pub use summary::Summary;
