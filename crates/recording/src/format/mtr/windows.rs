//! A report of WinMTR: a frame of bars, with a row a hop.

use super::hop::Hop;
use crate::source::lines;

/// The heading's columns, of which the first two share a cell.
const HEADING: [&str; 7] = ["%", "Sent", "Recv", "Best", "Avrg", "Wrst", "Last"];

/// Whether a line is the heading `|  Host  -   %  | Sent | Recv | Best | Avrg | Wrst | Last |`.
pub(super) fn is_heading(line: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(line) else {
        return false;
    };
    let words: Vec<&str> = text
        .split(|c: char| c == '|' || c.is_whitespace())
        .filter(|word| !word.is_empty())
        .collect();
    words.ends_with(&HEADING) && words.first() == Some(&"Host")
}

/// The hops; empty without a heading.
pub(super) fn hops(bytes: &[u8]) -> Vec<Hop> {
    let rows = lines(bytes)
        .skip_while(|(_, line)| !is_heading(line))
        .skip(1);
    rows.filter_map(|(_, line)| hop(std::str::from_utf8(line).ok()?))
        .collect()
}

/// A row `|  192.0.2.9 -   13 |  310 |  272 |   12 |   48 | 1043 |   13 |`, with times in
/// milliseconds.
fn hop(row: &str) -> Option<Hop> {
    let inside = row.trim().strip_prefix('|')?.strip_suffix('|')?;
    let cells: Vec<&str> = inside.split('|').map(str::trim).collect();
    let [first, sent, _, best, mean, worst, _] = cells[..] else {
        return None;
    };
    let (host, loss) = first.rsplit_once(" -")?;
    Some(Hop {
        host: host.trim().to_owned(),
        loss: loss.trim().parse().ok()?,
        sent: sent.parse().ok()?,
        best: best.parse().ok()?,
        mean: mean.parse().ok()?,
        worst: worst.parse().ok()?,
        deviation: 0.0,
    })
}
