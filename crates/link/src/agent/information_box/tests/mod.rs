mod loop_of_acks;
mod robustness;
mod sequences;
