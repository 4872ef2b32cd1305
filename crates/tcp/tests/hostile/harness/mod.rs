//! Two endpoints over a network that attacks them. A [`Plan`](plan::Plan), made of any bytes, a
//! fuzzer's or a seed's, describes the attack. [`run`] carries it out and panics if an endpoint
//! does something that it must not.

mod attack;
pub mod choices;
mod draw;
mod judge;
mod path;
pub mod plan;
pub mod source;
pub mod wire;
mod witness;
mod world;

pub use judge::Outcome;
pub use world::World;

/// Carries out a plan.
pub fn run(plan: &plan::Plan) -> Outcome {
    World::new(plan).run()
}
