//! Two endpoints over a network that attacks them. What is done is a [`Plan`](plan::Plan), made of
//! any bytes: a fuzzer's, or a seed's. [`run`] carries it out and panics where an endpoint does
//! what it must not.

mod attack;
mod choices;
mod draw;
mod judge;
mod path;
pub mod plan;
pub mod source;
mod wire;
mod witness;
mod world;

pub use judge::Outcome;
pub use world::World;

/// Carries out a plan.
pub fn run(plan: &plan::Plan) -> Outcome {
    World::new(plan).run()
}
