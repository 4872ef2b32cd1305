//! The Gilbert-Elliott channel: a good and a bad state for each flow.

use airtcp_units::Probability;

use super::Losses;
use crate::frame::Transmission;
use crate::random::Stream;

/// The parameters of a Gilbert-Elliott channel. The state is redrawn before each transmission of
/// a flow; the first is drawn from the stationary distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GilbertElliott {
    /// Chance that the good state ends with a transmission.
    pub good_to_bad: Probability,
    /// Chance that the bad state ends with a transmission: its mean length is the inverse.
    pub bad_to_good: Probability,
    /// Chance of a loss in the good state.
    pub loss_in_good: Probability,
    /// Chance of a loss in the bad state.
    pub loss_in_bad: Probability,
}

impl GilbertElliott {
    /// Share of transmissions that meet the bad state; a channel that never changes stays good.
    pub fn stationary_bad(&self) -> Probability {
        let (enter, leave) = (self.good_to_bad.as_f64(), self.bad_to_good.as_f64());
        if enter == 0.0 {
            return Probability::NEVER;
        }
        Probability::new(enter / (enter + leave)).unwrap_or(Probability::ALWAYS)
    }

    /// Share of transmissions that are lost in the long run.
    pub fn mean_loss(&self) -> f64 {
        let bad = self.stationary_bad().as_f64();
        (1.0 - bad) * self.loss_in_good.as_f64() + bad * self.loss_in_bad.as_f64()
    }
}

/// State of a flow's channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    NotDrawn,
    Good,
    Bad,
}

/// The channels of all flows.
#[derive(Clone, Debug)]
pub(crate) struct Channel {
    parameters: GilbertElliott,
    /// By flow: flows are numbered from zero without gaps.
    states: Vec<State>,
}

/// Of each transmission's two draws the even one sets the state and the odd one decides the loss.
const DRAWS_A_TRANSMISSION: u64 = 2;

impl Losses for Channel {
    type Config = GilbertElliott;

    fn new(parameters: GilbertElliott) -> Self {
        Self {
            parameters,
            states: Vec::new(),
        }
    }

    fn draws(_parameters: &GilbertElliott) -> bool {
        true
    }

    /// Moves the channel of the flow by one transmission, and returns whether that is lost.
    fn loses(&mut self, draws: Stream, transmission: &Transmission) -> bool {
        let place = transmission.flow as usize;
        if place >= self.states.len() {
            self.states.resize(place + 1, State::NotDrawn);
        }
        let first = transmission.index.wrapping_mul(DRAWS_A_TRANSMISSION);
        let state = self.next_state(self.states[place], draws.draw(first));
        self.states[place] = state;
        let chance = match state {
            State::Bad => self.parameters.loss_in_bad,
            State::Good | State::NotDrawn => self.parameters.loss_in_good,
        };
        chance.happens(draws.draw(first.wrapping_add(1)))
    }
}

impl Channel {
    fn next_state(&self, state: State, draw: u64) -> State {
        let GilbertElliott {
            good_to_bad,
            bad_to_good,
            ..
        } = self.parameters;
        let bad = match state {
            State::NotDrawn => self.parameters.stationary_bad().happens(draw),
            State::Good => good_to_bad.happens(draw),
            State::Bad => !bad_to_good.happens(draw),
        };
        if bad { State::Bad } else { State::Good }
    }
}
