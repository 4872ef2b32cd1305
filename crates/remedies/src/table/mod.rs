//! The remedies of the endpoints, a row each: name, effect, source, choice, parameters, other keys
//! in `[tcp]`, and deployment. A parameter with a key sets it. A remedy with logic has a file,
//! and its name here.

pub(crate) mod congestion;
pub(crate) mod receiver;
pub(crate) mod repair;
mod row;
pub(crate) mod timeout;
pub(crate) mod transmission;
