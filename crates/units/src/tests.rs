//! Text of every quantity: the users' input, the output, and the errors.

use proptest::prelude::*;
use schemars::{JsonSchema, schema_for};
use serde::{Deserialize, Serialize};

use crate::{BitRate, ByteCount, Duration, Instant, ParseError, Probability};

fn nanos(text: &str) -> Result<u64, String> {
    text.parse::<Duration>()
        .map(Duration::as_nanos)
        .map_err(|error| error.to_string())
}

#[test]
fn durations_are_read_exactly() {
    let cases = [
        ("15 ms", 15_000_000),
        ("15ms", 15_000_000),
        ("  15   ms ", 15_000_000),
        ("1.5 s", 1_500_000_000),
        ("1.5 ms", 1_500_000),
        ("0.1 s", 100_000_000),
        ("250 us", 250_000),
        ("250 µs", 250_000),
        ("250 \u{3bc}s", 250_000),
        ("7 ns", 7),
        ("2 min", 120_000_000_000),
        ("1 h", 3_600_000_000_000),
        ("0 s", 0),
        ("007.50 us", 7_500),
        // Halves of a nanosecond round up, less rounds down.
        ("0.5 ns", 1),
        ("0.49 ns", 0),
        ("1.0000000005 s", 1_000_000_001),
        ("1.00000000049999999999999999999999999999 s", 1_000_000_000),
        ("0.000000000000000000000000000000000000000000001 h", 0),
        // A thirtieth of a millisecond has no exact decimal: nearest nanosecond.
        ("0.0333333333333333333333333333 ms", 33_333),
        ("18446744073709551615 ns", u64::MAX),
        ("18446744073.709551615 s", u64::MAX),
    ];
    for (text, expected) in cases {
        assert_eq!(nanos(text), Ok(expected), "{text}");
    }
}

#[test]
fn what_is_no_duration_is_refused_with_the_units() {
    const UNITS: &str = r#"a duration such as "15 ms" (units ns, us, ms, s, min, h)"#;
    for text in [
        "15 parsecs",
        "ms",
        "",
        " ",
        "-15 ms",
        "+15 ms",
        "1e3 ms",
        "1,5 ms",
        "1. ms",
        ".5 ms",
        "1.2.3 ms",
        "1..2 ms",
        "NaN s",
        "inf",
        "1_000 ms",
        "15 MS",
        "15 m s",
        "15 ms 3",
        "٣ ms",
        "never",
    ] {
        assert_eq!(nanos(text), Err(format!("{text:?}: expected {UNITS}")));
    }
    for text in ["15", "1.5", "0"] {
        assert_eq!(
            nanos(text),
            Err(format!("{text:?}: expected a unit: {UNITS}"))
        );
    }
    for text in [
        "18446744073709551616 ns",
        "18446744073.709551616 s",
        "18446744073709551615.5 ns",
        "99999999999999999999999 s",
        "6000000 h",
    ] {
        assert_eq!(
            nanos(text),
            Err(format!("{text:?}: expected a smaller value: {UNITS}"))
        );
    }
}

/// Nobody wants 10 GB of garbage repeated on the terminal.
#[test]
fn errors_quote_no_more_than_a_line() {
    let message = nanos(&"µ".repeat(1_000_000)).unwrap_err();
    assert!(
        message.starts_with(&format!("\"{}\"...: expected", "µ".repeat(40))),
        "{message}"
    );
    assert!(nanos(&"9".repeat(1_000_000)).unwrap_err().len() < 200);
    let exactly_forty = "x".repeat(40);
    assert!(
        nanos(&exactly_forty)
            .unwrap_err()
            .starts_with(&format!("{exactly_forty:?}: "))
    );
    assert!(
        nanos("\u{1b}[2J")
            .unwrap_err()
            .starts_with(r#""\u{1b}[2J": "#),
        "no control codes"
    );
}

#[test]
fn rates_and_sizes_are_read() {
    let rates = [
        ("11 Mbit/s", 11_000_000),
        ("384 kbit/s", 384_000),
        ("1 Gbit/s", 1_000_000_000),
        ("9600 bit/s", 9_600),
        ("9600 bps", 9_600),
        ("5.5 Mbps", 5_500_000),
        ("56 kbps", 56_000),
        ("2.5Gbps", 2_500_000_000),
    ];
    for (text, expected) in rates {
        assert_eq!(text.parse(), Ok(BitRate::from_bps(expected)), "{text}");
    }
    let sizes = [
        ("10 B", 10),
        ("64 kB", 64_000),
        ("2 MB", 2_000_000),
        ("1.5 GB", 1_500_000_000),
        ("64 KiB", 65_536),
        ("1 MiB", 1_048_576),
        ("0.5 GiB", 536_870_912),
        ("1448", 1448),
    ];
    for (text, expected) in sizes {
        assert_eq!(text.parse(), Ok(ByteCount::from_bytes(expected)), "{text}");
    }
    let error = |text: &str| text.parse::<BitRate>().unwrap_err().to_string();
    assert_eq!(
        error("11 MB/s"),
        r#""11 MB/s": expected a bit rate such as "11 Mbit/s" (units bit/s, kbit/s, Mbit/s, Gbit/s)"#
    );
    let error = |text: &str| text.parse::<ByteCount>().unwrap_err().to_string();
    assert_eq!(
        error("64 KB"),
        r#""64 KB": expected a number of bytes such as "64 kB" or 1448 (units B, kB, MB, GB, KiB, MiB, GiB)"#
    );
    assert!(error("1.5").contains("expected a unit"));
}

#[test]
fn the_shortest_exact_text_is_written() {
    let durations = [
        (0, "0 s"),
        (1, "1 ns"),
        (999, "999 ns"),
        (1_000, "1 us"),
        (1_500, "1.5 us"),
        (250_000, "250 us"),
        (15_000_000, "15 ms"),
        (1_500_000_000, "1.5 s"),
        (1_234_567_891, "1234567891 ns"),
        (1_234_500_000, "1.2345 s"),
        (90_000_000_000, "90 s"),
        (120_000_000_000, "2 min"),
        (3_600_000_000_000, "1 h"),
        (5_400_000_000_000, "90 min"),
        (u64::MAX, "18446744073709551615 ns"),
    ];
    for (value, expected) in durations {
        assert_eq!(Duration::from_nanos(value).to_string(), expected);
    }
    let rates = [
        (0, "0 bit/s"),
        (9_600, "9.6 kbit/s"),
        (384_000, "384 kbit/s"),
        (11_000_000, "11 Mbit/s"),
        (5_500_000, "5.5 Mbit/s"),
        (1_000_000_000, "1 Gbit/s"),
        (1_234_567, "1234567 bit/s"),
    ];
    for (value, expected) in rates {
        assert_eq!(BitRate::from_bps(value).to_string(), expected);
    }
    let sizes = [
        (0, "0 B"),
        (10, "10 B"),
        (1_448, "1448 B"),
        (64_000, "64 kB"),
        (65_536, "64 KiB"),
        (1_048_576, "1 MiB"),
        (1_000_000, "1 MB"),
        (2_147_483_648, "2 GiB"),
    ];
    for (value, expected) in sizes {
        assert_eq!(ByteCount::from_bytes(value).to_string(), expected);
    }
    assert_eq!(format!("[{:>8}]", Duration::from_millis(15)), "[   15 ms]");
}

#[test]
fn probabilities_are_read_and_written() {
    let value = |text: &str| text.parse::<Probability>().map(Probability::as_f64);
    // Each is the f64 nearest to the decimal, as the Rust literal is.
    for (text, expected) in [
        ("0", 0.0),
        ("1", 1.0),
        ("0.01", 0.01),
        ("1e-5", 1e-5),
        (" 0.5 ", 0.5),
        ("1 %", 0.01),
        ("0.1%", 0.001),
        ("0.7 %", 0.007),
        ("100 %", 1.0),
        ("29 %", 0.29),
        ("-0", 0.0),
    ] {
        assert_eq!(value(text), Ok(expected), "{text}");
    }
    for text in [
        "1.2", "-0.1", "101 %", "NaN", "inf", "1e-2 %", "1E-2 %", "%", "", "one", "1 % %",
    ] {
        let message = value(text).unwrap_err().to_string();
        let expected = r#"expected a probability between 0 and 1, such as 0.01 or "1 %""#;
        assert_eq!(message, format!("{text:?}: {expected}"));
    }
    let message = Probability::new(1.2).unwrap_err().to_string();
    assert!(
        message.starts_with("1.2: expected a probability between 0 and 1"),
        "{message}"
    );
    assert!(Probability::new(f64::NAN).is_err() && Probability::new(-1e-9).is_err());
    assert_eq!(Probability::new(0.01).unwrap().to_string(), "0.01");
    assert_eq!(Probability::new(-0.0).unwrap().to_string(), "0");
    assert_eq!(Probability::new(0.0), Ok(Probability::NEVER));
    assert_eq!(Probability::new(1.0), Ok(Probability::ALWAYS));
}

#[test]
fn draws_decide() {
    for draw in [0, 1, 2, u64::MAX / 2, u64::MAX - 1, u64::MAX] {
        assert!(Probability::ALWAYS.happens(draw));
        assert!(!Probability::NEVER.happens(draw));
    }
    // A quarter of all draws: those below 2^62.
    let quarter = Probability::new(0.25).unwrap();
    assert!(quarter.happens((1 << 62) - 1));
    assert!(!quarter.happens(1 << 62));
    // The least and the greatest that a decision can distinguish from never and always.
    let rare = Probability::new((-63_f64).exp2()).unwrap();
    assert!(rare.happens(0) && rare.happens(1) && !rare.happens(2));
    let almost = Probability::new(1.0 - f64::EPSILON / 2.0).unwrap();
    assert!(almost.happens(u64::MAX - (1 << 11)) && !almost.happens(u64::MAX - (1 << 11) + 1));
}

/// Law of large numbers, with draws by Weyl's sequence (equidistributed, no random source).
#[test]
fn draws_decide_in_proportion() {
    let chance = Probability::new(0.013).unwrap();
    let draws = (0..1_000_000_u64).map(|index| index.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let count = draws.filter(|&draw| chance.happens(draw)).count();
    assert!((12_990..=13_010).contains(&count), "{count}");
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Link {
    delay: Duration,
    rate: BitRate,
    queue: ByteCount,
    loss: Probability,
    starts: Instant,
}

#[test]
fn scenarios_are_read_from_toml() {
    let expected = Link {
        delay: Duration::from_millis(25),
        rate: BitRate::from_bps(10_000_000),
        queue: ByteCount::from_bytes(64_000),
        loss: Probability::new(0.01).unwrap(),
        starts: Instant::from_nanos(2_000_000_000),
    };
    let with = |queue: &str, loss: &str| {
        format!(
            "delay = '25 ms'\nrate = '10 Mbit/s'\nqueue = {queue}\nloss = {loss}\nstarts = '2 s'"
        )
    };
    for (queue, loss) in [
        ("'64 kB'", "0.01"),
        ("64000", "'1 %'"),
        ("'64000'", "'0.01'"),
    ] {
        assert_eq!(
            toml::from_str::<Link>(&with(queue, loss)).as_ref(),
            Ok(&expected)
        );
    }
    assert_eq!(
        toml::from_str::<Link>(&with("0", "1")).unwrap().loss,
        Probability::ALWAYS
    );
    assert_eq!(
        toml::from_str::<Link>(&with("0", "0")).unwrap().loss,
        Probability::NEVER
    );
    let written = serde_json::to_string(&expected).unwrap();
    assert_eq!(
        written,
        r#"{"delay":"25 ms","rate":"10 Mbit/s","queue":"64 kB","loss":0.01,"starts":"2 s"}"#
    );
    assert_eq!(serde_json::from_str::<Link>(&written).unwrap(), expected);
}

#[test]
fn numbers_without_a_unit_are_refused_with_the_units() {
    fn error<T: for<'de> Deserialize<'de>>(json: &str) -> String {
        serde_json::from_str::<T>(json)
            .err()
            .map_or_else(String::new, |error| error.to_string())
    }
    for number in ["15", "15.5", "0"] {
        let message = error::<Duration>(number);
        let expected = format!(
            r#"{number}: expected text with a unit: a duration such as "15 ms" (units ns, us, ms, s, min, h)"#
        );
        assert!(message.starts_with(&expected), "{message}");
    }
    assert!(error::<Duration>("-15").starts_with("-15: expected a duration such as"));
    assert!(error::<BitRate>("11").starts_with("11: expected text with a unit: a bit rate"));
    assert!(error::<ByteCount>("-1").starts_with("-1: expected a number of bytes"));
    assert!(error::<ByteCount>("1.5").starts_with("1.5: expected text with a unit: a number"));
    assert!(error::<Duration>("true").contains(r#"expected a duration such as "15 ms""#));
    assert!(error::<Duration>("\"15\"").starts_with("\"15\": expected a unit"));
    assert!(error::<Probability>("2").starts_with("2: expected a probability"));
    assert!(error::<Probability>("-1").starts_with("-1: expected a probability"));
    assert!(error::<Probability>("-0.5").starts_with("-0.5: expected a probability"));
    assert!(error::<Probability>("[]").contains("expected a probability between 0 and 1"));
    assert!(error::<Probability>("\"x\"").starts_with("\"x\": expected a probability"));
    assert_eq!(
        serde_json::from_str::<ByteCount>("1448").unwrap(),
        ByteCount::from_bytes(1448)
    );
}

#[test]
fn the_schema_knows_the_units() {
    let schema = schema_for!(Duration).to_value();
    assert_eq!(schema["type"], "string");
    assert_eq!(
        schema["pattern"],
        r"^\s*([0-9]+(\.[0-9]+)?\s*(ns|us|µs|μs|ms|s|min|h))\s*$"
    );
    assert_eq!(schema["examples"][0], "15 ms");
    let schema = schema_for!(Instant).to_value();
    assert_eq!(
        schema["pattern"],
        r"^\s*(never|[0-9]+(\.[0-9]+)?\s*(ns|us|µs|μs|ms|s|min|h))\s*$"
    );
    let schema = schema_for!(ByteCount).to_value();
    assert_eq!(schema["anyOf"][1]["type"], "integer");
    let schema = schema_for!(Probability).to_value();
    assert_eq!(schema["anyOf"][0]["maximum"], 1);
    let schema = schema_for!(Link).to_value();
    assert_eq!(schema["$defs"]["BitRate"]["title"], serde_json::Value::Null);
    assert_eq!(schema["$defs"]["BitRate"]["examples"][0], "11 Mbit/s");
    assert!(
        schema["$defs"]["Duration"]["description"]
            .as_str()
            .unwrap()
            .contains("units ns")
    );
}

#[test]
fn a_parse_error_is_an_error() {
    let error: Box<dyn std::error::Error> = Box::new("x".parse::<Duration>().unwrap_err());
    assert!(error.downcast_ref::<ParseError>().is_some());
}

proptest! {
    #[test]
    fn text_round_trips(value: u64, zeros in 0_u32..19) {
        // Round numbers use the larger units.
        let value = value / 10_u64.pow(zeros) * 10_u64.pow(zeros);
        let duration = Duration::from_nanos(value);
        prop_assert_eq!(duration.to_string().parse(), Ok(duration));
        let instant = Instant::from_nanos(value);
        prop_assert_eq!(instant.to_string().parse(), Ok(instant));
        let rate = BitRate::from_bps(value);
        prop_assert_eq!(rate.to_string().parse(), Ok(rate));
        let bytes = ByteCount::from_bytes(value);
        prop_assert_eq!(bytes.to_string().parse(), Ok(bytes));
        let bytes = ByteCount::from_bytes(value << (zeros * 3));
        prop_assert_eq!(bytes.to_string().parse(), Ok(bytes));
    }

    #[test]
    fn probabilities_round_trip(value in 0.0..=1.0_f64) {
        let probability = Probability::new(value).unwrap();
        prop_assert_eq!(probability.to_string().parse(), Ok(probability));
        prop_assert_eq!(probability.as_f64(), value);
    }

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC*", number in "[0-9.eE+-]{0,40}", unit in "[a-zA-Z/%µ ]{0,6}") {
        for text in [text, format!("{number}{unit}")] {
            let _ = text.parse::<Duration>();
            let _ = text.parse::<Instant>();
            let _ = text.parse::<BitRate>();
            let _ = text.parse::<ByteCount>();
            let _ = text.parse::<Probability>();
        }
    }

    /// Against arithmetic that cannot overflow: the least whole time in which the bits fit.
    #[test]
    fn transmission_time_is_the_least_that_fits(bytes: u64, rate in 1_u64.., shift in 0_u32..64) {
        let (bytes, rate) = (bytes >> shift, rate >> (shift / 2) | 1);
        let time = u128::from(BitRate::from_bps(rate).transmission_time(bytes).as_nanos());
        let bit_nanos = u128::from(bytes) * 8_000_000_000;
        prop_assert!(time == u128::from(u64::MAX) || time * u128::from(rate) >= bit_nanos);
        prop_assert!(time == 0 || (time - 1) * u128::from(rate) < bit_nanos);
    }
}
