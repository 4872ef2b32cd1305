//! CSV in every unit, with every word for a loss, and as spreadsheets export it.

use airtcp_recording::parse;
use airtcp_units::Duration;

use crate::series::*;

#[test]
fn csv_is_read_in_every_unit_and_with_every_word_for_a_loss() {
    for lost in [
        "", "-1", "NaN", "nan", "-", "*", "lost", "timeout", "N/A", "null",
    ] {
        let rows = |each: &dyn Fn(u64) -> String| {
            written(|number, rtt| {
                let value = rtt.map_or_else(|| lost.to_owned(), each);
                format!("{}.{},{value}\n", number / 5, number % 5 * 2)
            })
        };
        let milliseconds = rows(&|tenths| ms(tenths));
        assert_read(
            format!("time_s,rtt_ms\n{milliseconds}").as_bytes(),
            lost,
            100,
        );
        assert_read(
            format!("Time,Latency [ms]\n{milliseconds}").as_bytes(),
            lost,
            100,
        );
        let micros = rows(&|tenths| (tenths * 100).to_string());
        assert_read(format!("t,rtt_us\n{micros}").as_bytes(), lost, 100);
        let semicolons = milliseconds.replace(',', ";").replace('.', ",");
        assert_read(format!("Zeit;RTT (ms)\n{semicolons}").as_bytes(), lost, 100);
        let tabs = milliseconds.replace(',', "\t");
        assert_read(format!("time\tping\n{tabs}").as_bytes(), lost, 100);
    }
}

#[test]
fn rows_that_a_program_left_out_are_lost_probes() {
    let rows = written(|number, rtt| {
        rtt.map_or_else(String::new, |tenths| {
            format!("{},{}\n", number * 200_000, tenths * 100)
        })
    });
    assert_read(
        format!("ts_us,rtt_us\n{rows}").as_bytes(),
        "rows left out",
        100,
    );
}

/// Programs and spreadsheets in German, French, Spanish: decimals with a comma, fields with
/// semicolons or tabs, a line that names the separator, quotes, and local dates.
#[test]
fn decimals_with_a_comma_are_read_however_fields_are_separated() {
    let rows = |separator: &str| {
        written(|number, rtt| {
            let value = rtt.map_or_else(String::new, |tenths| ms(tenths).replace('.', ","));
            format!("{},{}{separator}{value}\r\n", number / 5, number % 5 * 2)
        })
    };
    for header in [
        "Zeit;RTT (ms)",
        "Zeit (s);Laufzeit (ms)",
        "zeit_s;antwortzeit_ms",
        "Temps;Latence [ms]",
        "Tiempo;Latencia (ms)",
    ] {
        let table = format!("{header}\r\n{}", rows(";"));
        assert_read(table.as_bytes(), header, 100);
        let tabs = format!("{}\r\n{}", header.replace(';', "\t"), rows("\t"));
        assert_read(tabs.as_bytes(), header, 100);
        let hinted = format!("\u{feff}sep=;\r\n{table}");
        assert_read(hinted.as_bytes(), header, 100);
    }
    let single = written(|_, rtt| {
        let value = rtt.map_or_else(|| "-".to_owned(), |tenths| ms(tenths).replace('.', ","));
        format!("{value}\n")
    });
    assert_read(format!("rtt_ms\n{single}").as_bytes(), "one column", 100);
    let dated = written(|number, rtt| {
        let value = rtt.map_or_else(String::new, |tenths| ms(tenths).replace('.', ","));
        let (minute, second, tenth) = (number / 300, number / 5 % 60, number % 5 * 2);
        format!("\"28.11.2026 17:{minute:02}:{second:02},{tenth}\";\"{value}\"\n")
    });
    let name = "quoted dates";
    let table = format!("\"Zeitstempel\";\"RTT (ms)\"\n{dated}");
    assert_read(table.as_bytes(), name, 100);
    let log = read(table.as_bytes(), name);
    let last = log.replies().last().and_then(|reply| reply.sent);
    assert_eq!(last, Some(Duration::from_millis(59_800)), "{name}");
}

#[test]
fn rates_have_decimals_with_a_comma_too() {
    let mean = |table: &str| {
        let found = parse(table.as_bytes(), "x").unwrap_or_else(|error| panic!("{table}: {error}"));
        assert_eq!(found.format, "throughput", "{table}");
        let seconds: Vec<f64> = (found.rates[0].steps.iter())
            .map(|step| step.length.as_secs_f64())
            .collect();
        (found.rates[0].mean, seconds)
    };
    let half = vec![0.5; 3];
    for table in [
        "Zeit (s);Durchsatz (Mbit/s)\n0,0;10,5\n0,5;11,5\n1,0;12,5\n",
        "sep=;\nZeit;Download (Mbit/s)\n0,0;10,5\n0,5;11,5\n1,0;12,5\n",
        "Zeit\tDatenrate (kbit/s)\n0,0\t10.500,0\n0,5\t11.500,0\n1,0\t12.500,0\n",
        "time_s\tmbps\n0.0\t10.5\n0.5\t11.5\n1.0\t12.5\n",
        "\"Zeit\";\"Mbit/s\"\n\"0,0\";\"10,5\"\n\"0,5\";\"11,5\"\n\"1,0\";\"12,5\"\n",
    ] {
        assert_eq!(mean(table), (11_500_000, half.clone()), "{table}");
    }
    // A second apart, and no whole number with a second column after the comma.
    assert_eq!(mean("mbps\n10,5\n11,5\n12,5\n"), (11_500_000, vec![1.0; 3]));
    let bare = "0,0 10,5\n0,5 11,5\n1,0 12,5\n1,5 11,5\n2,0 11,5\n";
    assert_eq!(mean(bare).0, 11_500_000);
    let mixed = "Zeit;Mbit/s\n0;1,2,3\n";
    let error = parse(mixed.as_bytes(), "x.csv").unwrap_err().to_string();
    assert!(error.contains("line 2"), "{error}");
    let hinted = format!("sep=;\n{mixed}");
    let error = parse(hinted.as_bytes(), "x.csv").unwrap_err().to_string();
    assert!(error.contains("line 3"), "{error}");
}
