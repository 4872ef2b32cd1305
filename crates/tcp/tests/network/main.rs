//! Two real connections over a toy network: what must hold on any network, and what the profiles
//! make of a few given ones.

mod behaviour;
mod fade;
mod invariants;
mod overshoot;
mod split;
mod toy;
mod truth;
