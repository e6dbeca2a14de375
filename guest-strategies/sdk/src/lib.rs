//! Write a compaction strategy for baler: one trait, one macro, one `.wasm` file.
//!
//! A strategy gets the figures of a conversation, reads as much of its text as it wants, and
//! answers with a plan: which units stay, which parts become shorter, what is inserted. The
//! host carries the plan out. What is kept never passes through the strategy.
//!
//! ```
//! use baler_strategy::{Conversation, Draft, Failure, NoConfig, Report, Room, Situation, Strategy};
//!
//! /// Keeps what must stay and the newest units that fit.
//! struct Newest;
//!
//! impl Strategy for Newest {
//!     type Config = NoConfig;
//!     const NAME: &'static str = "newest";
//!     const VERSION: &'static str = "0.1.0";
//!     const DESCRIPTION: &'static str = "Keeps the newest units that fit.";
//!
//!     fn compact(
//!         conversation: &Conversation<'_>,
//!         situation: &Situation,
//!         _: &NoConfig,
//!     ) -> Result<Report, Failure> {
//!         let mut room = Room::beside_protected(situation, conversation.units());
//!         let mut draft = Draft::of_protected(conversation);
//!         for (index, unit) in conversation.units().iter().enumerate().rev() {
//!             if !unit.is_protected() && !room.take(unit) {
//!                 break;
//!             }
//!             draft.keep(index);
//!         }
//!         Ok(Report::compacted(draft.build()?))
//!     }
//! }
//!
//! baler_strategy::export!(Newest);
//!
//! // The same code runs natively, against a conversation made up for the test.
//! use baler_strategy::testing::{Recording, run};
//!
//! let recording = Recording::new()
//!     .system("You are a careful engineer.")
//!     .user("Is the build green?").tokens(100)
//!     .user("And the tests?").tokens(100)
//!     .user("Then release it.").tokens(100);
//! let tested = run::<Newest>(&recording, &recording.situation(250), "").unwrap();
//! assert!(tested.tokens() <= 250);
//! assert_eq!(tested.kept(), [0, 2, 3]);
//! ```
//!
//! # Where to start
//! - [`Strategy`] is what a strategy implements, [`export!`] makes a component of it.
//! - [`Conversation`] is what it sees, [`Situation`] what it has to reach.
//! - [`Room`] does the arithmetic of budgets, [`Draft`] makes the plan.
//! - [`Conversation::model`] asks the host's model, where the user granted one.
//! - [`testing`] runs a strategy natively and checks its plans by the contract's rules.

mod strategy;

mod conversation;

mod draft;

mod budget;

mod report;

mod model;

mod config;

mod guest;

#[doc(hidden)]
pub mod bindings;

pub mod testing;

pub use bindings::baler::compaction::history::{
    Content, Media, Message, Part, PartTraits, Role, Tool, ToolCall, ToolOutput, Traits, Unit,
    UnitKind,
};
pub use bindings::baler::compaction::log::Level;
pub use bindings::exports::baler::compaction::strategy::{
    Change, Decision, Edit, Failure, Insertion, Introspection, Metric, Outcome, Piece, Placement,
    Plan, Purpose, Reason, Report, Rewrite, Situation, Span, Trigger, Value,
};
pub use budget::{Room, opening_note};
pub use config::NoConfig;
pub use conversation::{Conversation, Read, Source};
pub use draft::{Draft, DraftError, Rewriting};
pub use model::{Answers, Completion, Finish, Model, ModelError, ModelInfo, ModelRequest};
pub use strategy::{Limits, Strategy};

/// The examples of the README, tested.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

/// What [`export!`] needs and nobody else.
#[doc(hidden)]
pub mod __private {
    pub use crate::guest::Component;

    /// Whether it is one, the compiler says.
    pub const fn is_strategy<S: crate::Strategy>() {}
}

/// Makes a component of a [`Strategy`]. Call it once, in a crate of type `cdylib`.
///
/// A panic of the strategy ends the call as a trap. Its message and place go to the host's log
/// first.
#[macro_export]
macro_rules! export {
    ($strategy:ty) => {
        // Native linkers do not take the names that a component exports.
        #[cfg(target_family = "wasm")]
        const _: () = {
            type Component = $crate::__private::Component<$strategy>;
    $crate::bindings::__export_component!(Component with_types_in $crate::bindings);
        };
        #[cfg(not(target_family = "wasm"))]
        const _: () = $crate::__private::is_strategy::<$strategy>();
    };
}
