//! Exports of the findings: a summary, and an annotated capture.

mod annotate;
mod summary;
#[cfg(test)]
mod tests;

pub use annotate::{AnnotateError, annotate};
pub use summary::Summary;
