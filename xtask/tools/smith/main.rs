//! Generated guests: modules whose code is random but valid, with the contract's imports and exports, through load and
//! call. Nothing that they do may be more than a fault.
//!
//! ```console
//! $ cargo xtask smith                # a hundred thousand
//! $ cargo xtask smith 500 42         # the number of guests, and a seed
//! ```

mod guests;

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut numbers = std::env::args().skip(1).map(|text| text.parse::<u64>());
    let mut number = |default| numbers.next().unwrap_or(Ok(default));
    let (Ok(count), Ok(seed)) = (number(100_000), number(1)) else {
        anstream::eprintln!("error: expected the number of guests and a seed, such as `500 42`");
        return ExitCode::FAILURE;
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let done = runtime
        .map_err(anyhow::Error::from)
        .and_then(|runtime| runtime.block_on(guests::run(count, seed)));
    match done {
        Ok(tally) => {
            anstream::println!("{tally}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            anstream::eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
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
