//! CSV in every unit, and with every word for a loss.

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
