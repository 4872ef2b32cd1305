//! Two real connections over a toy network: the invariants on any network, and the profiles'
//! behaviour on a few given ones.

mod behaviour;
mod fade;
mod flood;
mod invariants;
mod overshoot;
mod split;
mod toy;
mod truth;
