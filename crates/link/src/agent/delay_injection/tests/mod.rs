mod algorithm;
mod bench;
mod passing;
mod properties;
