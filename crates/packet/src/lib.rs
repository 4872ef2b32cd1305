//! What crosses a link: TCP segments as values, sequence arithmetic, the wire codec.
