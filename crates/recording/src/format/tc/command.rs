//! tc's words: `tc qdisc add dev DEV root netem delay 100ms 10ms loss 1%`, and the same as shown,
//! `qdisc netem 8001: dev DEV root refcnt 2 limit 1000 delay 100ms  10ms loss 1%`.

use airtcp_units::Duration;
use memchr::memmem;

use crate::recording::{Losses, Shaping, Spread};
use crate::source::lines;

/// A discipline on a device.
pub(super) struct Command {
    pub device: String,
    pub kind: String,
    pub shaping: Shaping,
}

/// A line that tc would refuse.
pub(super) struct Fault {
    pub line: u64,
    pub unread: Unread,
}

/// A word that does not fit.
#[derive(Debug)]
pub(super) struct Unread {
    /// The word; empty at the end of a line.
    pub found: String,
    pub expected: &'static str,
}

/// All disciplines of a text, in order. Lines of other programs are passed over.
pub(super) fn commands(bytes: &[u8]) -> impl Iterator<Item = Result<Command, Fault>> {
    lines(bytes).filter_map(|(line, bytes)| {
        // Either form has one of these: every log is searched for them to its end.
        if !bytes.starts_with(b"qdisc") && memmem::find(bytes, b"tc").is_none() {
            return None;
        }
        let text = std::str::from_utf8(bytes).ok()?;
        let text = text
            .split('#')
            .next()?
            .trim_end_matches([';', '\\', '|', '&', ' ']);
        let words: Vec<&str> = text.split_whitespace().collect();
        let parsed = of_command(&words).or_else(|| of_shown(&words))?;
        Some(parsed.map_err(|unread| Fault { line, unread }))
    })
}

type Parsed = Result<Command, Unread>;

/// `[sudo] tc [-n NS] qdisc add|change|replace dev DEV …`, also in a shell script.
fn of_command(words: &[&str]) -> Option<Parsed> {
    let tc = words
        .iter()
        .position(|word| *word == "tc" || word.ends_with("/tc"))?;
    let qdisc = words
        .get(tc..)?
        .iter()
        .take(5)
        .position(|word| word.starts_with("q"))?;
    let rest = words.get(tc + qdisc + 1..)?;
    if !matches!(*rest.first()?, "add" | "change" | "replace") {
        return None;
    }
    let device = rest.iter().position(|word| *word == "dev")?;
    let name = rest.get(device + 1)?;
    let mut kind = 1;
    while kind < rest.len() {
        match rest[kind] {
            "dev" | "parent" | "handle" => kind += 2,
            "root" | "ingress" => kind += 1,
            _ => break,
        }
    }
    Some(discipline(rest.get(kind)?, name, &rest[kind + 1..]))
}

/// `qdisc KIND HANDLE: [dev DEV] root|parent X [refcnt N] …`.
fn of_shown(words: &[&str]) -> Option<Parsed> {
    let (&"qdisc", rest) = words.split_first()? else {
        return None;
    };
    let (kind, rest) = rest.split_first()?;
    let (handle, rest) = rest.split_first()?;
    if !handle.ends_with(':') {
        return None;
    }
    let (mut device, mut at) = ("", 0);
    while at < rest.len() {
        match rest[at] {
            "dev" => {
                device = rest.get(at + 1)?;
                at += 2;
            }
            "parent" | "refcnt" => at += 2,
            "root" | "ingress" | "[Unknown" => at += 1,
            _ => break,
        }
    }
    Some(discipline(kind, device, &rest[at.min(rest.len())..]))
}

fn discipline(kind: &str, device: &str, words: &[&str]) -> Parsed {
    let mut shaping = Shaping::default();
    let mut options = Options { words, at: 0 };
    match kind {
        "netem" => netem(&mut options, &mut shaping)?,
        "tbf" => tbf(&mut options, &mut shaping)?,
        "cake" => cake(&mut options, &mut shaping)?,
        "fq" | "pfifo" | "bfifo" | "fq_codel" | "codel" | "pie" | "sfq" | "red" => {
            queue(kind, &mut options, &mut shaping)?;
        }
        _ => {}
    }
    Ok(Command {
        device: device.to_owned(),
        kind: kind.to_owned(),
        shaping,
    })
}

/// Words that are taken one by one.
struct Options<'a> {
    words: &'a [&'a str],
    at: usize,
}

impl<'a> Options<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let word = *self.words.get(self.at)?;
        self.at += 1;
        Some(word)
    }

    /// Takes the next word if `of` accepts it; otherwise the position stays.
    fn take<T>(&mut self, of: impl Fn(&str) -> Option<T>) -> Option<T> {
        let value = of(self.words.get(self.at)?)?;
        self.at += 1;
        Some(value)
    }

    fn must<T>(
        &mut self,
        of: impl Fn(&str) -> Option<T>,
        expected: &'static str,
    ) -> Result<T, Unread> {
        self.take(of).ok_or_else(|| Unread {
            found: self
                .words
                .get(self.at)
                .copied()
                .unwrap_or_default()
                .to_owned(),
            expected,
        })
    }
}

const TIME: &str = "a time such as 100ms";
const RATE: &str = "a rate such as 10mbit";
const SHARE: &str = "a percentage such as 1%";

fn netem(options: &mut Options<'_>, shaping: &mut Shaping) -> Result<(), Unread> {
    while let Some(word) = options.next() {
        match word {
            "limit" => shaping.limit_packets = Some(options.must(count, "a number of packets")?),
            "delay" | "latency" => {
                shaping.delay = Some(options.must(time, TIME)?);
                shaping.jitter = options.take(time).filter(|jitter| jitter.as_nanos() > 0);
                if shaping.jitter.is_some() {
                    shaping.spread.get_or_insert(Spread::Uniform);
                    if options.take(percentage).is_some_and(|share| share > 0.0) {
                        shaping.unread.push("correlation of delays".to_owned());
                    }
                }
            }
            "distribution" => {
                let name =
                    options.must(|word| Some(word.to_owned()), "the name of a distribution")?;
                shaping.spread = Some(match name.as_str() {
                    "uniform" => Spread::Uniform,
                    _ => Spread::Table(name),
                });
            }
            "loss" | "drop" => losses(options, shaping)?,
            "reorder" => {
                shaping.reorder = Some(options.must(percentage, SHARE)?);
                while options.take(percentage).is_some() {}
            }
            "rate" => {
                shaping.rate = Some(options.must(rate, RATE)?).filter(|rate| *rate > 0);
                while options.take(count).is_some() {}
            }
            "gap" | "seed" => {
                options.next();
            }
            "ecn" => {}
            _ => {
                shaping.unread.push(word.to_owned());
                while options.take(percentage).is_some() || options.take(time).is_some() {}
            }
        }
    }
    Ok(())
}

/// `loss [random] 1% [25%]`, `loss gemodel p [r [1-h [1-k]]]`, `loss state …`.
fn losses(options: &mut Options<'_>, shaping: &mut Shaping) -> Result<(), Unread> {
    match options.words.get(options.at) {
        Some(&"gemodel") => {
            options.at += 1;
            let is_name = |word: &str| matches!(word, "p" | "r" | "1-h" | "1-k").then_some(());
            options.take(is_name);
            let to_bad = options.must(percentage, SHARE)?;
            let mut next = || {
                options.take(is_name);
                options.take(percentage)
            };
            // man tc-netem: r is 1 - p, 1-h is 1 and 1-k is 0 when left out.
            let to_good = next().unwrap_or(1.0 - to_bad);
            let in_bad = next().unwrap_or(1.0);
            let in_good = next().unwrap_or(0.0);
            shaping.losses = Some(Losses::GilbertElliott([to_bad, to_good, in_bad, in_good]));
        }
        Some(&"state") => {
            options.at += 1;
            shaping.unread.push("loss state".to_owned());
            let is_name = |word: &str| (word.starts_with('p') && word.len() == 3).then_some(());
            while options.take(percentage).is_some() || options.take(is_name).is_some() {}
        }
        _ => {
            options.take(|word| (word == "random").then_some(()));
            let share = options.must(percentage, SHARE)?;
            shaping.losses = Some(Losses::Random(share)).filter(|_| share > 0.0);
            if options.take(percentage).is_some_and(|share| share > 0.0) {
                shaping.unread.push("correlation of losses".to_owned());
            }
        }
    }
    Ok(())
}

fn tbf(options: &mut Options<'_>, shaping: &mut Shaping) -> Result<(), Unread> {
    while let Some(word) = options.next() {
        match word {
            "rate" => shaping.rate = Some(options.must(rate, RATE)?),
            "latency" | "lat" => shaping.limit_delay = Some(options.must(time, TIME)?),
            "limit" => shaping.limit_bytes = Some(options.must(bytes, "a size such as 30Kb")?),
            _ => {
                options.next();
            }
        }
    }
    Ok(())
}

fn cake(options: &mut Options<'_>, shaping: &mut Shaping) -> Result<(), Unread> {
    while let Some(word) = options.next() {
        if word == "bandwidth" {
            // "unlimited" shapes nothing.
            shaping.rate = options.take(rate);
        }
    }
    Ok(())
}

fn queue(kind: &str, options: &mut Options<'_>, shaping: &mut Shaping) -> Result<(), Unread> {
    while let Some(word) = options.next() {
        if word != "limit" {
            continue;
        }
        if kind == "bfifo" || kind == "red" {
            shaping.limit_bytes = Some(options.must(bytes, "a size such as 30Kb")?);
        } else {
            let packets = |word: &str| count(word.trim_end_matches('p'));
            shaping.limit_packets = Some(options.must(packets, "a number of packets")?);
        }
    }
    Ok(())
}

fn count(text: &str) -> Option<u64> {
    text.parse().ok()
}

/// A number and its unit.
fn parts(text: &str) -> Option<(f64, String)> {
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .unwrap_or(text.len());
    let value: f64 = text[..end].parse().ok()?;
    Some((value, text[end..].to_ascii_lowercase()))
}

/// `100ms`, `50us`, `1.5s`; a bare number is of microseconds (tc's `get_time`).
fn time(text: &str) -> Option<Duration> {
    const MAX_S: f64 = 3600.0;
    let (value, unit) = parts(text)?;
    let factor = match unit.as_str() {
        "s" | "sec" | "secs" => 1.0,
        "ms" | "msec" | "msecs" => 1e-3,
        "us" | "usec" | "usecs" | "" => 1e-6,
        "ns" | "nsec" | "nsecs" => 1e-9,
        _ => return None,
    };
    Duration::from_secs_f64(value * factor).filter(|time| time.as_secs_f64() <= MAX_S)
}

/// `10mbit`, `1.5Gbit`, `1mbps` of bytes, `10mibit` of powers of two; a bare number is of bits.
fn rate(text: &str) -> Option<u64> {
    const MAX: f64 = 1e13;
    let (value, unit) = parts(text)?;
    let (prefix, bits) = match (unit.strip_suffix("bit"), unit.strip_suffix("bps")) {
        (Some(prefix), _) => (prefix, 1.0),
        (_, Some(prefix)) => (prefix, 8.0),
        _ if unit.is_empty() => ("", 1.0),
        _ => return None,
    };
    let factor = match prefix {
        "" => 1.0,
        "k" => 1e3,
        "m" => 1e6,
        "g" => 1e9,
        "t" => 1e12,
        "ki" => 1024.0,
        "mi" => 1_048_576.0,
        "gi" => 1_073_741_824.0,
        _ => return None,
    };
    let found = value * factor * bits;
    (1.0..=MAX).contains(&found).then(|| found.round() as u64)
}

/// `30Kb`, `1mb`, `3000`: of bytes, in powers of two (tc's `get_size`).
fn bytes(text: &str) -> Option<u64> {
    let (value, unit) = parts(text)?;
    let factor = match unit.as_str() {
        "" | "b" => 1.0,
        "k" | "kb" => 1024.0,
        "m" | "mb" => 1_048_576.0,
        "g" | "gb" => 1_073_741_824.0,
        _ => return None,
    };
    let found = value * factor;
    (found < 1e15).then_some(found as u64)
}

/// `1%`; tc takes a bare number for a percentage too.
fn percentage(text: &str) -> Option<f64> {
    let number = text.strip_suffix('%').unwrap_or(text);
    let share = number.parse::<f64>().ok()? / 100.0;
    (0.0..=1.0).contains(&share).then_some(share)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> Command {
        let mut all = commands(text.as_bytes());
        let Some(Ok(first)) = all.next() else {
            panic!("{text}: no command");
        };
        first
    }

    #[test]
    fn what_tc_shows_is_what_it_was_told() {
        let told = one(
            "sudo tc qdisc add dev eth0 root handle 1: netem delay 100ms 10ms 25% \
                        distribution normal loss 1.5% rate 10mbit limit 200",
        );
        let shown = one(
            "qdisc netem 8001: dev eth0 root refcnt 2 limit 200 delay 100ms  10ms 25% \
                         distribution normal loss 1.5% rate 10Mbit",
        );
        assert_eq!(told.shaping, shown.shaping);
        assert_eq!(
            (told.device.as_str(), told.kind.as_str()),
            ("eth0", "netem")
        );
        let shaping = told.shaping;
        assert_eq!(shaping.rate, Some(10_000_000));
        assert_eq!(shaping.delay, Some(Duration::from_millis(100)));
        assert_eq!(shaping.losses, Some(Losses::Random(0.015)));
        assert_eq!(shaping.unread, ["correlation of delays"]);
        assert_eq!(shaping.limit_packets, Some(200));
    }

    #[test]
    fn rates_are_of_bits_or_of_bytes() {
        for (text, bits) in [
            ("10mbit", 10_000_000),
            ("1.5Gbit", 1_500_000_000),
            ("1mbps", 8_000_000),
            ("64kibit", 65_536),
            ("9600", 9_600),
        ] {
            assert_eq!(rate(text), Some(bits), "{text}");
        }
        assert_eq!(time("100"), Some(Duration::from_micros(100)));
        assert_eq!(
            (rate("10x"), time("10x"), percentage("130%")),
            (None, None, None)
        );
    }

    /// The third value is the loss in the bad state, whatever it is called (man tc-netem).
    #[test]
    fn gilbert_elliott_has_four_values_or_fewer() {
        let losses = |text: &str| {
            one(&format!("tc qdisc add dev a root netem loss {text}"))
                .shaping
                .losses
        };
        assert_eq!(
            losses("gemodel 1% 10% 70% 0.1%"),
            Some(Losses::GilbertElliott([0.01, 0.1, 0.7, 0.001]))
        );
        assert_eq!(
            losses("gemodel p 2% r 50% 1-h 100% 1-k 0%"),
            Some(Losses::GilbertElliott([0.02, 0.5, 1.0, 0.0]))
        );
        assert_eq!(
            losses("gemodel 1%"),
            Some(Losses::GilbertElliott([0.01, 0.99, 1.0, 0.0]))
        );
        assert_eq!(losses("random 3%"), Some(Losses::Random(0.03)));
        assert_eq!(losses("3"), Some(Losses::Random(0.03)));
    }
}
