//! What is known of files that were read again or edited since.

use std::collections::BTreeSet;

use super::changes::file;
use super::facts::Fact;

/// Returns the places of what is outdated: values of a file that was read again or edited later, and what a file that
/// was edited later said about itself.
pub(super) fn places(facts: &[(usize, &Fact)]) -> BTreeSet<usize> {
    let mut outdated = BTreeSet::new();
    let mut newer: BTreeSet<&str> = BTreeSet::new();
    let mut edited: BTreeSet<&str> = BTreeSet::new();
    for (place, fact) in facts.iter().rev() {
        match fact {
            Fact::Value {
                number,
                file: Some(file),
                ..
            } => {
                if newer.contains(&**file) {
                    outdated.insert(*place);
                } else if *number == 0 {
                    newer.insert(file);
                }
            }
            Fact::Content(content) if content.is_of_any(&edited) => {
                outdated.insert(*place);
            }
            Fact::Action(action) => {
                if let Some(path) = action.edited_file() {
                    newer.insert(path);
                    // Of an earlier digest only the name is known.
                    edited.extend([path, file(path)]);
                }
            }
            _ => {}
        }
    }
    outdated
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actions::Action;

    #[test]
    fn the_newest_values_of_a_file_count_until_it_is_edited() {
        let value = |number, file: &str| Fact::Value {
            number,
            line: format!("{file}: low=1"),
            file: Some(file.to_owned()),
        };
        let earlier = Fact::Value {
            number: 0,
            line: "tide.json: low=1".to_owned(),
            file: None,
        };
        let edit = |path: &str| {
            let arguments = format!(r#"{{"path":"{path}"}}"#);
            Fact::Action(Box::new(Action::of_call("edit", &arguments, false, None)))
        };
        let facts = [
            earlier,
            value(0, "tide.json"),
            value(1, "tide.json"),
            value(0, "harbour/quay.json"),
            value(0, "pier.json"),
            edit("harbour/quay.json"),
            value(0, "tide.json"),
            value(1, "tide.json"),
            value(0, "old/tide.json"),
        ];
        let facts: Vec<(usize, &Fact)> = facts.iter().enumerate().collect();
        assert_eq!(places(&facts), BTreeSet::from([1, 2, 3]));
    }
}
