//! Keeps documents true: what stands between a pair of markers must be what the code says.

use std::fs;
use std::path::Path;

/// Compares the part of `document` between `<!-- generated: name -->` and `<!-- end -->` with
/// `expected`; with `AIRTCP_WRITE_DOCS` set, writes it there instead.
///
/// # Panics
/// When they differ, or there is no such part.
pub(crate) fn check(document: &str, name: &str, expected: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(document);
    let text = fs::read_to_string(&path).unwrap();
    let start_marker = format!("<!-- generated: {name} -->\n");
    let start = text.find(&start_marker).expect(&start_marker) + start_marker.len();
    let end = start + text[start..].find("<!-- end -->").expect("<!-- end -->");
    if text[start..end] == *expected {
        return;
    }
    assert!(
        std::env::var_os("AIRTCP_WRITE_DOCS").is_some(),
        "{document}: the part {name:?} is out of date; run: AIRTCP_WRITE_DOCS=1 cargo test \
         -p {} -- --test-threads 1",
        env!("CARGO_PKG_NAME")
    );
    fs::write(
        &path,
        format!("{}{expected}{}", &text[..start], &text[end..]),
    )
    .unwrap();
}
