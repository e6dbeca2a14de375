//! An agent that lives through thousands of steps within a window of 16,000 tokens, while its
//! model and the one that summarises for it fail now and then; and one whose tools give back 60 %
//! of that window now and then.
//!
//! ```sh
//! cargo run --release --example agent -- [STEPS] [SEED]
//! ```
#![allow(
    clippy::print_stdout,
    reason = "it is a command, and this is its output"
)]

mod life;
mod numbers;
mod provider;

use anyhow::Context as _;

/// Steps from one output that takes 60 % of the window to the next.
const GIANT_EVERY: usize = 7;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default: u64, what| match arguments.next() {
        None => Ok(default),
        Some(word) => word
            .parse()
            .with_context(|| format!("`{word}` is no number of {what}")),
    };
    let steps = usize::try_from(number(2_000, "steps")?)?;
    let seed = number(1, "a seed")?;
    println!("{}", life::live(seed, steps, 0).await?);
    println!("\n{}", life::live(seed, steps / 4, GIANT_EVERY).await?);
    Ok(())
}
