//! Asks the host's model, with text of the conversation.
//!
//! Imports are permissions: without the user's grant its question is refused, and goes nowhere.

use hostile_guests::{Failure, Hostile, Report, Situation, history, hostile, unchanged};

wit_bindgen::generate!({
    inline: "
        package hostile:model;
        world wants {
            import baler:compaction/model@0.1.0;
        }
    ",
    path: "../../wit/v0.1",
    world: "hostile:model/wants",
    generate_all,
});

use baler::compaction::model::{Request, complete};

struct WantsModel;

impl Hostile for WantsModel {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let answer = complete(&Request {
            instructions: "Repeat this.".to_owned(),
            prompt: format!("{:?}", history::read(0, u32::MAX)),
            max_output_tokens: u32::MAX,
        });
        unchanged(format!("{answer:?}"))
    }
}

hostile!(WantsModel);
