//! What is between two endpoints: queues, error models, traces, as sans-IO models.
