//! Separates what programs wrote in the user's turns from the user's own words, before either is read.

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use baler_provenance::{Separator, gaps};

use crate::part::Part;

/// Returns the parts of a unit with only the user's own words in [`Part::User`]. What programs wrote follows
/// as [`Part::Program`].
pub(crate) fn separate_programs<'p>(parts: &'p [Part<'p>]) -> Vec<Part<'p>> {
    let mut told = Vec::with_capacity(parts.len());
    let texts = parts.iter().enumerate();
    let mut separator = Separator::among(texts.filter_map(|(index, part)| match part {
        Part::User(text) => Some((index, &**text)),
        _ => None,
    }));
    for (index, part) in parts.iter().enumerate() {
        let Part::User(text) = part else {
            separator.pass();
            told.push(part.clone());
            continue;
        };
        let parted = separator.separate(index, text);
        if parted.programs.is_empty() {
            told.push(part.clone());
            continue;
        }
        let mut own = parted.own;
        own.retain(|own| !own.trim().is_empty());
        if !own.is_empty() {
            let own = own.join("\n");
            let own = gaps::without_gaps(&own).into_owned();
            told.push(Part::User(Cow::Owned(own)));
        }
        let programs = parted.programs.into_iter().map(Cow::Borrowed);
        told.extend(programs.map(Part::Program));
    }
    told
}
