//! What an author has to change so that a fault goes away.

use baler_host::fault::{Difference, Fault, PlanRule, Quantity, Trap};

/// Returns what to change in the strategy.
pub(crate) const fn for_author(fault: &Fault) -> &'static str {
    match fault {
        Fault::Trap {
            trap: Trap::ComponentModel,
        } => {
            "drop each borrowed handle before the call returns, and return from an export only once"
        }
        Fault::Trap { trap: Trap::Exit } => "return a failure instead of ending the program",
        Fault::Trap { .. } => {
            "no panic, exception or failed assertion may leave an export: return a failure (`other`), whose text `--words` shows; in JavaScript and Python the clock traps too"
        }
        Fault::OutOfFuel { .. } | Fault::Timeout { .. } => {
            "do work in proportion to the number of units: read each unit once, and count a text once; declare more by `introspect` only if it is needed by design"
        }
        Fault::Memory { .. } | Fault::Table { .. } => {
            "read units in slices (`read(first, count)`) and keep what you need of them, not their texts"
        }
        Fault::Stack { .. } => "use a loop instead of recursion, and put large values on the heap",
        Fault::OutputTooLarge { .. } => {
            "join spans of kept units, write fewer and shorter texts, and read units in larger slices"
        }
        Fault::OutputMalformed => "pass strings that are UTF-8 and lie in the component's memory",
        Fault::InvalidPlan(plan) => for_plan(plan.rule),
        Fault::OverBudget {
            what: Quantity::Tokens,
            ..
        } => {
            "count what stays: `overhead`, the `tokens` of each kept unit that is not of kind `instructions`, and for each insertion its text and `insertion-overhead`; where two answers of the model would follow one another, and before a first unit that is a step, the host inserts a note of `opening-note` tokens; if all that is over `budget`, keep less"
        }
        Fault::OverBudget { .. } => {
            "keep to `max-bytes` and `max-media` of the situation: each unit's `bytes` and `media` are in its figures"
        }
        Fault::NoProgress { .. } => {
            "answer `unchanged` if the plan would make nothing smaller: an inserted text costs `insertion-overhead` besides its own tokens"
        }
        Fault::InvalidResult { .. } => {
            "this should not be possible with a plan that passed its check: please report it to the authors of baler, with the file"
        }
        Fault::NotDeterministic {
            what: Difference::Fuel,
        } => "do not depend on addresses or on the order of a hash map with a random seed",
        Fault::NotDeterministic { .. } => {
            "the same question needs the same answer: no random numbers, no clock, no order of a hash map"
        }
        _ => "see docs/strategies.md",
    }
}

const fn for_plan(rule: PlanRule) -> &'static str {
    match rule {
        PlanRule::Empty => {
            "a plan keeps at least the protected units; answer `unchanged` if there is nothing to do"
        }
        PlanRule::EmptySpan => "a span has a `count` of at least 1",
        PlanRule::OutOfRange | PlanRule::ReasonOutOfRange => {
            "units are numbered from 0 to one less than the length of the lists of `units()`"
        }
        PlanRule::OutOfOrder => "name units in rising order, and each at most once",
        PlanRule::DropsProtected => "keep or rewrite every unit that has the trait `protected`",
        PlanRule::EditOutOfRange => {
            "number messages within their unit, and parts within their message, from 0, as `read` returns them"
        }
        PlanRule::EditOutOfOrder => {
            "sort the edits of a unit by message and part, with at most one for each part"
        }
        PlanRule::EditNotAllowed => {
            "edit only parts with the trait `rewritable` (texts), `excerptable` (excerpts) or `removable`"
        }
        PlanRule::EditRemovesCall => "a call and its output go only with their whole unit",
        PlanRule::EditGrows => {
            "replace a text only by one that has fewer tokens, counting some 20 for the mark around it"
        }
        PlanRule::ExcerptOutOfRange => {
            "runs are offsets in bytes of UTF-8 in the text as `read` returned it, between characters"
        }
        PlanRule::ExcerptOutOfOrder => "sort the runs of an excerpt, and join those that touch",
        PlanRule::ExcerptTooShort => "leave out runs of fewer than 16 bytes",
        PlanRule::RoleNotAllowed => "insert texts in the role `user`, which is always allowed",
        PlanRule::JoinsNothing => {
            "a text joins only a kept message of kind `user` or `instructions` next to it, in the same role; otherwise place it `alone`"
        }
        PlanRule::EmptyInsertion => "insert no blank text",
        PlanRule::PrecedesFirst => {
            "insert nothing before the first unit if that is opaque: insert behind it"
        }
        _ => "see wit/README.md",
    }
}
