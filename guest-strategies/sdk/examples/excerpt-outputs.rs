//! A strategy that keeps of long tool outputs only the lines that mention an error, byte for byte.
//!
//! ```console
//! $ cargo build --example excerpt-outputs --target wasm32-unknown-unknown --release
//! $ baler wrap target/wasm32-unknown-unknown/release/examples/excerpt_outputs.wasm -o excerpt-outputs.wasm
//! ```

use baler_strategy::{
    Content, Conversation, Failure, NoConfig, PartTraits, PlanBuilder, Report, Situation, Strategy,
    excerpt,
};

/// Keeps the error lines of long tool outputs.
#[derive(Debug)]
pub struct ExcerptOutputs;

impl Strategy for ExcerptOutputs {
    type Config = NoConfig;
    const NAME: &'static str = "excerpt-outputs";
    const VERSION: &'static str = "0.1.0";
    const DESCRIPTION: &'static str = "Keeps the error lines of long tool outputs.";

    fn compact(
        conversation: &Conversation<'_>,
        _: &Situation,
        _: &NoConfig,
    ) -> Result<Report, Failure> {
        let units = conversation.units().len();
        let mut builder = PlanBuilder::keeping_all(units);
        for (unit, messages) in conversation.read(0..units) {
            for (message, own) in messages.iter().enumerate() {
                for (part, own) in own.parts.iter().enumerate() {
                    let Content::Output(output) = &own.content else {
                        continue;
                    };
                    let runs = excerpt::lines(&output.text, |_, line| line.contains("error"));
                    let after = excerpt::tokens(conversation, &output.text, &runs);
                    let is_worth_it = !runs.is_empty() && after < own.tokens / 2;
                    if is_worth_it && own.traits.contains(PartTraits::EXCERPTABLE) {
                        builder.rewrite(unit).excerpt(message, part, runs);
                    }
                }
            }
        }
        if !builder.has_changes() {
            return Ok(Report::unchanged("no tool output is long enough"));
        }
        Ok(Report::compacted(builder.build()?))
    }
}

baler_strategy::export!(ExcerptOutputs);

#[cfg(test)]
mod tests {
    use super::*;
    use baler_strategy::testing::{Recording, call, run};

    #[test]
    fn excerpt_outputs_keeps_the_error_lines_and_shows_the_gaps() {
        let output = format!(
            "{}error: no berth is free\n{}",
            "all is well\n".repeat(100),
            "still well\n".repeat(100)
        );
        let recording = Recording::new()
            .user("Find a berth.")
            .step("I ask.", [call("berths", "{}", &output)])
            .user("And now?");
        let situation = recording.situation(300);
        let tested = run::<ExcerptOutputs>(&recording, &situation, "")
            .expect("the strategy declares no failure");
        assert!(tested.fits());
        assert_eq!(
            tested.render(),
            "keep 0 user\n\
             rewrite 1 step\n  1.0 [… 1200 bytes left out …]\nerror: no berth is free\n[… 1100 bytes left out …]\n\n\
             keep 2 user protected\n"
        );
    }
}
