//! The lab as a WebAssembly module: one instance in each worker of the page.
//!
//! The page writes a request into memory that it got from [`allocate`], calls [`answer`], and reads
//! the answer at [`output`]. A request is its length in JSON (four bytes, little-endian), the JSON,
//! and the contents of the files that it lists. `python/airtcp/lab/static/js/core/worker.js` is the
//! other side.

mod door;
mod requests;
