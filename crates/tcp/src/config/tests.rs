use super::*;

/// The profiles' choices, as a user reads them in `airtcp list remedies`.
#[test]
fn profiles_are_tables_of_choices() {
    let table: String = Profile::ALL
        .into_iter()
        .map(|profile| {
            let Config {
                recovery,
                sack,
                limited_transmit,
                congestion,
                slow_start,
                loss_detection,
                reduction,
                spurious_detection,
                tail_loss_probe,
                ..
            } = profile.config();
            let (name, summary) = (profile.name(), profile.summary());
            format!(
                "{name}: {summary}\n  {recovery:?}, sack {sack}, limited transmit \
                 {limited_transmit}\n  {congestion:?}, {slow_start:?}, {loss_detection:?}, \
                 {reduction:?}, tail loss probe {tail_loss_probe}\n  {spurious_detection:?}\n"
            )
        })
        .collect();
    insta::assert_snapshot!(table);
}

/// The defaults fixed by a standard or shared by every common stack.
#[test]
fn defaults_are_the_standards() {
    let config = Config::default();
    assert_eq!(config, Profile::NewReno.config());
    assert_eq!(
        (config.initial_window, config.duplicate_ack_threshold),
        (10, 3)
    );
    assert_eq!(config.receive_buffer, 8 * 1024 * 1024);
    let timeout = config.timeout;
    assert_eq!(
        (timeout.mean_gain, timeout.deviation_gain, timeout.factor),
        (0.125, 0.25, 4.0)
    );
    assert_eq!(timeout.initial, Duration::from_secs(1));
    assert_eq!(
        (config.delayed_ack.segments, config.delayed_ack.timeout),
        (2, Duration::from_millis(40))
    );
}
