//! Write a compaction strategy for baler: one trait, one macro, one `.wasm` file.
//!
//! A strategy decides what an agent's conversation keeps when it has to become smaller. It runs in a sandbox
//! and sees nothing but the conversation. It reads the figures of each unit and as much text as it needs, and
//! returns a plan: which units are kept, which parts are edited or removed, which texts are inserted. The
//! host checks the plan and applies it. Kept content never passes through the strategy.
//!
//! - A **unit** is the smallest run of messages that is kept or removed together: a user message, or one
//!   response of the model with all its tool calls and their outputs.
//! - A **protected** unit must be in every plan ([`Unit::is_protected`]): instructions, pins, pending
//!   calls, the user's words, outputs that the model has not seen.
//! - The **budget** is what the result may cost in tokens, with the **overhead** of system prompt and tools.
//!   The **floor** is the overhead plus all protected units. If the budget is below the floor, the strategy
//!   has to reach the floor.
//!
//! # Example
//!
//! ```
//! use baler_strategy::{
//!     Conversation, Failure, FreeBudget, NoConfig, PlanBuilder, Report, Situation, Strategy,
//! };
//!
//! /// Keeps the protected units and the newest other units that fit.
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
//!         let mut free = FreeBudget::after_protected(situation, conversation.units());
//!         let mut builder = PlanBuilder::keeping_protected(conversation);
//!         for (index, unit) in conversation.units().iter().enumerate().rev() {
//!             if !unit.is_protected() && !free.take(unit) {
//!                 break;
//!             }
//!             builder.keep(index);
//!         }
//!         Ok(Report::compacted(builder.build()?))
//!     }
//! }
//!
//! baler_strategy::export!(Newest);
//!
//! // In a test, the same code runs natively, on a conversation written for the test.
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
//! # What a strategy uses
//!
//! | item | purpose |
//! |---|---|
//! | [`Strategy`] | the trait that a strategy implements |
//! | [`export!`] | makes a component of it |
//! | [`Conversation`] | returns units, messages, references, tools and token counts |
//! | [`Situation`] | the budget and the other limits of the call, and why it was made |
//! | [`FreeBudget`] | calculates what still fits these limits |
//! | [`PlanBuilder`] | returns a [`Plan`] from the outcome of each unit |
//! | [`LargeSteps`] | shortens steps that would take the place of everything older |
//! | [`Rewriting::excerpt`], [`excerpt`] | keep some of a text, byte for byte |
//! | [`Insertion::summary`], [`Insertion::note`] | return a text to insert |
//! | [`Report::compacted`], [`Report::unchanged`] | return the result of [`Strategy::compact`] |
//! | [`Conversation::model`] | returns the host's model, if the user granted one |
//! | [`Filter`], [`export_filter!`] | changes what a strategy behind it reads and answers (`baler compose`) |
//! | [`testing`] | runs a strategy natively and checks its plan by the rules of the contract |

mod strategy;
mod conversation;
mod plan_builder;
mod budget;
mod unit;
mod large_steps;
pub mod excerpt;
mod report;
mod model;
mod config;
mod filter;
mod guest;

#[doc(hidden)]
pub mod bindings;
pub mod testing;

pub use bindings::baler::compaction::history::{
    Content, Media, Message, Part, PartTraits, Role, Tool, ToolCall, ToolOutput, Traits, UnitKind,
};
pub use bindings::baler::compaction::log::Level;
pub use bindings::baler::composition::view::Shown;
pub use bindings::exports::baler::compaction::strategy::{
    Change, Decision, Edit, Failure, Insertion, Introspection, Metric, Outcome, Piece, Placement,
    Plan, Purpose, Reason, Report, Rewrite, Run, Situation, Span, Trigger, Value,
};
pub use budget::{FreeBudget, opening_note};
pub use config::NoConfig;
pub use conversation::{Conversation, Read, Source};
pub use filter::Filter;
pub use large_steps::{LargeSteps, Oversized};
pub use model::{Completion, Finish, Model, ModelError, ModelInfo, ModelRequest, ModelSource};
pub use plan_builder::{PlanBuilder, PlanError, Rewriting};
pub use strategy::{Limits, Strategy};
pub use unit::Unit;

/// Tests the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

/// What the expansion of [`export!`] refers to.
#[doc(hidden)]
pub mod __private {
    pub use crate::guest::{Component, FilterComponent};

    /// Compiles only if `S` is a strategy.
    pub const fn is_strategy<S: crate::Strategy>() {}

    /// Compiles only if `S` is a filter.
    pub const fn is_filter<S: crate::Filter>() {}
}

/// Exports a [`Strategy`] as a component. Use it once, in a crate of type `cdylib`.
///
/// A panic of the strategy traps, which is a fault. Its message and location are logged first.
#[macro_export]
macro_rules! export {
    ($strategy:ty) => {
        // Native linkers reject the names that a component exports.
        #[cfg(target_family = "wasm")]
        const _: () = {
            type Component = $crate::__private::Component<$strategy>;
    $crate::bindings::__export_component!(Component with_types_in $crate::bindings);
        };
        #[cfg(not(target_family = "wasm"))]
        const _: () = $crate::__private::is_strategy::<$strategy>();
    };
}

/// Exports a [`Filter`] as a component. Use it once, in a crate of type `cdylib`. `baler compose` puts the component
/// before a strategy.
///
/// A panic of the filter traps, which is a fault. Its message and location are logged first.
#[macro_export]
macro_rules! export_filter {
    ($filter:ty) => {
        // Native linkers reject the names that a component exports.
        #[cfg(target_family = "wasm")]
        const _: () = {
            type Component = $crate::__private::FilterComponent<$filter>;
    $crate::bindings::__export_component!(Component with_types_in $crate::bindings);
        };
        #[cfg(not(target_family = "wasm"))]
        const _: () = $crate::__private::is_filter::<$filter>();
    };
}
