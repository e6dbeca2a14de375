//! Native strategies as the host runs them. What they choose is tested where they are written.

mod digest;
mod same_as_component;
mod summarize;
