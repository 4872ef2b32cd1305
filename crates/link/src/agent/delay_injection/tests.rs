mod paper;
mod properties;
