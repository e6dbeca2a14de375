//! Who wrote a text, and what of it may count as whose words.
//!
//! In a conversation the user's role, a tool's output and a model's answer are not each one author's. Programs
//! write into the user's turns ([`by_author`]), the user answers through tools ([`asks_user`],
//! [`is_refusal_with_reason`]), clients put notices of failures and refusals in the place of outputs
//! ([`failures`]), models think aloud ([`after_thinking`]), and baler itself wrote headings ([`headings`]), lines
//! about what an excerpt leaves out ([`gaps`]) and tags ([`own_tag`]).
//!
//! All tables of such texts are here. The host, guests and readers of logs use them, so this crate depends on none
//! of them, and on nothing else. `docs/wire-formats.md` says which program writes what, and how that is known.

pub mod failures;
pub mod gaps;
pub mod headings;
mod hidden;
pub mod json_members;
mod programs;
mod quote;
mod thinking;

pub use failures::begins_like_a_failure;
pub use headings::without_headings;
pub use hidden::{is_blank, is_hidden};
pub use programs::{
    ByAuthor, INSERTED, Separator, asks_user, begins_like_a_refusal, by_author, is_by_program,
    is_refusal_with_reason, own_words, programs_in,
};
pub use quote::{own_tag, quoted};
pub use thinking::after_thinking;
