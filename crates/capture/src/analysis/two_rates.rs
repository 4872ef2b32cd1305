//! Whether events are rarer in one part of the trials than in another: the exact test of two
//! Poisson rates (J. Przyborowski & H. Wilenski, "Homogeneity of results in testing samples from
//! Poisson series", Biometrika 31, 1940). Given their sum, the events in one part are binomial.

/// Trials, and how many of them had an event.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Part {
    pub trials: u32,
    pub events: u32,
}

/// The chance that as few events as in `first` fall into it, or fewer, if they are as frequent in
/// `second`.
pub(super) fn chance_of_so_few(first: Part, second: Part) -> f64 {
    if first.trials == 0 || second.trials == 0 {
        return 1.0;
    }
    let (events, all) = (first.events + second.events, first.trials + second.trials);
    let share = f64::from(first.trials) / f64::from(all);
    let (odds, least) = (libm::log(share / (1.0 - share)), libm::log(1.0 - share));
    let mut term = f64::from(events) * least;
    let mut chance = 0.0;
    for number in 0..=first.events {
        chance += libm::exp(term);
        let (left, next) = (events - number, number + 1);
        term += odds + libm::log(f64::from(left) / f64::from(next));
    }
    chance.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chance(first: (u32, u32), second: (u32, u32)) -> f64 {
        let part = |(events, trials)| Part { trials, events };
        chance_of_so_few(part(first), part(second))
    }

    /// 400 of 420 trials: one event is in the other 20 with 20/420. 2000 of 2200, four of six
    /// events or fewer: 1 - 6·(10/11)^5·(1/11) - (10/11)^6.
    #[test]
    fn the_chance_is_binomial() {
        assert!((chance((0, 400), (1, 20)) - 20.0 / 420.0).abs() < 1e-12);
        let (most, rest) = (10.0_f64 / 11.0, 1.0 / 11.0);
        let expected = 1.0 - 6.0 * most.powi(5) * rest - most.powi(6);
        assert!((chance((4, 2000), (2, 200)) - expected).abs() < 1e-12);
    }

    #[test]
    fn nothing_is_shown_without_trials_or_events() {
        assert_eq!(chance((0, 0), (3, 10)), 1.0);
        assert_eq!(chance((3, 10), (0, 0)), 1.0);
        assert!((chance((0, 10), (0, 10)) - 1.0).abs() < 1e-12);
        assert!((chance((5, 10), (0, 10)) - 1.0).abs() < 1e-12);
    }

    /// (1 - share)^events is less than the smallest number.
    #[test]
    fn many_events_do_not_underflow() {
        let found = chance((99_000, 990_000), (1_000, 10_000));
        assert!((0.4..0.6).contains(&found), "{found}");
        assert!(chance((50_000, 990_000), (50_000, 10_000)) < 1e-9);
    }
}
