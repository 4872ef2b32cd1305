//! The Gilbert-Elliott channel: a good and a bad state for each flow.

use super::GilbertElliott;
use crate::random::Stream;

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

impl Channel {
    pub(super) fn new(parameters: GilbertElliott) -> Self {
        Self {
            parameters,
            states: Vec::new(),
        }
    }

    /// Moves the channel of `flow` by one transmission, and returns whether that is lost.
    pub(super) fn loses(&mut self, draws: Stream, flow: u32, index: u64) -> bool {
        let place = flow as usize;
        if place >= self.states.len() {
            self.states.resize(place + 1, State::NotDrawn);
        }
        let first = index.wrapping_mul(DRAWS_A_TRANSMISSION);
        let state = self.next_state(self.states[place], draws.draw(first));
        self.states[place] = state;
        let chance = match state {
            State::Bad => self.parameters.loss_in_bad,
            State::Good | State::NotDrawn => self.parameters.loss_in_good,
        };
        chance.happens(draws.draw(first.wrapping_add(1)))
    }

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
