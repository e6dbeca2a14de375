//! What the hostile guests share: the contract's bindings, and a polite answer for every export
//! that a guest does not attack, so that its file is nothing but its attack.

wit_bindgen::generate!({
    path: "../../wit/v0.1",
    world: "pure-strategy",
    pub_export_macro: true,
    export_macro_name: "export_strategy",
    default_bindings_module: "hostile_guests",
});

pub use baler::compaction::history::{Content, Message, Part, PartTraits, Role, Traits, UnitKind};
pub use baler::compaction::{log, tokenizer};
pub use exports::baler::compaction::strategy::{
    Change, Decision, Edit, Failure, Guest, Insertion, Introspection, Metric, Outcome, Piece,
    Placement, Plan, Purpose, Reason, Report, Rewrite, Run, Situation, Span, Trigger, Value,
};

/// The conversation, with a record for each unit.
pub mod history {
    use crate::Unit;
    use crate::baler::compaction::history;

    pub use history::{read, reference, tools};

    pub fn units() -> Vec<Unit> {
        let figures = history::units();
        (0..figures.kinds.len())
            .map(|index| Unit {
                kind: figures.kinds[index],
                traits: figures.traits[index],
                tokens: figures.tokens[index],
            })
            .collect()
    }
}

/// What the guests need to know about a unit.
#[derive(Clone, Copy)]
pub struct Unit {
    pub kind: UnitKind,
    pub traits: Traits,
    pub tokens: u32,
}

/// A strategy that behaves. An attack overrides what it attacks.
pub trait Hostile {
    fn introspect(_config: Option<String>) -> Result<Introspection, Failure> {
        Ok(polite_introspection())
    }

    fn should_compact(_situation: Situation, _config: String) -> Result<Decision, Failure> {
        Ok(Decision::HostDecides)
    }

    fn compact(_situation: Situation, _config: String) -> Result<Report, Failure> {
        polite_report()
    }
}

/// Carries a [`Hostile`] to the contract's own trait.
pub struct Exported<T>(core::marker::PhantomData<T>);

impl<T: Hostile> Guest for Exported<T> {
    fn introspect(config: Option<String>) -> Result<Introspection, Failure> {
        T::introspect(config)
    }

    fn should_compact(situation: Situation, config: String) -> Result<Decision, Failure> {
        T::should_compact(situation, config)
    }

    fn compact(situation: Situation, config: String) -> Result<Report, Failure> {
        T::compact(situation, config)
    }
}

/// Makes a [`Hostile`] the component's strategy.
///
/// What the ABI has below the strategy can be replaced as well: `answer`, all of `compact`, from
/// its raw arguments to the address of its raw result, and `free_answer`, which the host calls when
/// it has read that result.
#[expect(
    clippy::crate_in_macro_def,
    reason = "the replacement is the guest's own function"
)]
#[macro_export]
macro_rules! hostile {
    ($guest:ident) => {
        type Strategy = $crate::Exported<$guest>;
        $crate::export_strategy!(Strategy with_types_in $crate);
    };
    ($guest:ident, answer = $answer:ident) => {
        $crate::hostile!(@raw $guest, _export_compact_cabi, $answer, *mut u8);
    };
    ($guest:ident, free_answer = $free:ident) => {
        $crate::hostile!(@raw $guest, __post_return_compact, $free, ());
    };
    (@raw $guest:ident, $function:ident, $with:ident, $result:ty) => {
        type Strategy = $crate::Exported<$guest>;

        // The exports are looked for by path: here, one of them is not the generated one.
        mod raw {
            pub mod exports {
                pub mod baler {
                    pub mod compaction {
                        pub mod strategy {
                            pub use $crate::exports::baler::compaction::strategy::*;

                            pub unsafe fn $function<T: Guest>(at: *mut u8) -> $result {
                                // SAFETY: whatever comes of it stays in the sandbox.
                                unsafe { crate::$with(at) }
                            }
                        }
                    }
                }
            }
        }

        $crate::export_strategy!(Strategy with_types_in raw);
    };
}

pub fn polite_introspection() -> Introspection {
    Introspection {
        name: "hostile".to_owned(),
        version: "0.0.0".to_owned(),
        description: "Attacks the host that runs it.".to_owned(),
        config_schema: String::new(),
        reason_codes: vec!["old".to_owned()],
        metric_names: vec!["removed".to_owned()],
        timeout_ms: None,
        memory_mib: None,
        fuel: None,
        metadata: Vec::new(),
    }
}

/// A plan that any host should take: protected units and the newest one stay, a note stands
/// for the rest.
pub fn polite_report() -> Result<Report, Failure> {
    compacted(polite_pieces(&history::units()))
}

pub fn polite_pieces(units: &[Unit]) -> Vec<Piece> {
    let mut pieces = keep_where(units, |index, unit| {
        unit.traits.contains(Traits::PROTECTED) || index + 1 == units.len()
    });
    let at = pieces.len().saturating_sub(1);
    pieces.insert(at, note("Older messages were left out."));
    pieces
}

/// A note of the user's role, in a message of its own.
pub fn note(text: &str) -> Piece {
    insert(Role::User, Placement::Alone, text.to_owned())
}

pub fn insert(role: Role, placement: Placement, text: String) -> Piece {
    Piece::Insert(Insertion {
        role,
        purpose: Purpose::Note,
        placement,
        text,
    })
}

pub fn keep(first: u32, count: u32) -> Piece {
    Piece::Keep(Span { first, count })
}

/// Keeps the units that `stays` wants, one piece each.
pub fn keep_where(units: &[Unit], mut stays: impl FnMut(usize, &Unit) -> bool) -> Vec<Piece> {
    units
        .iter()
        .enumerate()
        .filter(|(index, unit)| stays(*index, unit))
        .map(|(index, _)| keep(index as u32, 1))
        .collect()
}

pub fn compacted(pieces: Vec<Piece>) -> Result<Report, Failure> {
    Ok(Report {
        outcome: Outcome::Compacted(Plan {
            pieces,
            reasons: Vec::new(),
        }),
        metrics: Vec::new(),
    })
}

pub fn unchanged(why: impl Into<String>) -> Result<Report, Failure> {
    Ok(Report {
        outcome: Outcome::Unchanged(why.into()),
        metrics: Vec::new(),
    })
}

/// The conversation has nothing that this attack could act on. A declared failure, so that a
/// test with the wrong conversation does not pass by accident.
pub fn nothing_to_attack<T>() -> Result<T, Failure> {
    Err(Failure::Other("nothing to attack here".to_owned()))
}

/// Where a part stands in the conversation.
#[derive(Clone, Copy)]
pub struct Place {
    pub unit: u32,
    pub message: u32,
    pub part: u32,
}

impl Place {
    pub fn edit(self, change: Change) -> Edit {
        Edit {
            message: self.message,
            part: self.part,
            change,
        }
    }
}

/// The first part that `wanted` accepts, in the order of the conversation.
pub fn find(wanted: impl Fn(&Unit, &Message, &Part) -> bool) -> Option<(Place, Part)> {
    for (index, unit) in history::units().iter().enumerate() {
        for messages in history::read(index as u32, 1) {
            for (m, message) in messages.into_iter().enumerate() {
                if let Some(p) = message
                    .parts
                    .iter()
                    .position(|part| wanted(unit, &message, part))
                {
                    let place = Place {
                        unit: index as u32,
                        message: m as u32,
                        part: p as u32,
                    };
                    return message.parts.into_iter().nth(p).map(|part| (place, part));
                }
            }
        }
    }
    None
}

/// The first long text that may be excerpted, and where it stands.
pub fn find_excerptable() -> Option<(Place, String)> {
    let (place, part) =
        find(|_, _, part| part.traits.contains(PartTraits::EXCERPTABLE) && part.tokens > 300)?;
    match part.content {
        Content::Text(text) => Some((place, text)),
        Content::Output(output) => Some((place, output.text)),
        _ => None,
    }
}

/// Keeps every unit, and rewrites one.
pub fn rewrite(unit: u32, edits: Vec<Edit>) -> Result<Report, Failure> {
    let mut pieces = keep_where(&history::units(), |_, _| true);
    match pieces.get_mut(unit as usize) {
        Some(piece) => *piece = Piece::Rewrite(Rewrite { unit, edits }),
        None => return nothing_to_attack(),
    }
    compacted(pieces)
}
