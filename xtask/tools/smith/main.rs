//! Generated guests: modules whose code is random but valid, with the contract's imports and exports, through load and
//! call. Nothing that they do may be more than a fault.
//!
//! ```console
//! $ cargo xtask smith                # a hundred thousand
//! $ cargo xtask smith 500 42         # the number of guests, and a seed
//! ```

mod guests;

use anyhow::Context as _;

fn main() -> anyhow::Result<()> {
    let mut numbers = std::env::args().skip(1).map(|text| text.parse::<u64>());
    let mut number = |default| numbers.next().unwrap_or(Ok(default));
    let expected = "expected the number of guests and a seed, such as `500 42`";
    let count = number(100_000).context(expected)?;
    let seed = number(1).context(expected)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let tally = runtime.block_on(guests::run(count, seed))?;
    anstream::println!("{tally}");
    Ok(())
}

#[cfg(test)]
mod tests {
    /// A few of them.
    #[tokio::test]
    async fn generated_guests_end_as_faults_or_are_refused() {
        let tally = super::guests::run(150, 7)
            .await
            .expect("nothing got more than a fault");
        assert!(tally.called > 100, "{tally}");
        assert!(tally.ends.len() > 2, "{tally}");
    }
}
