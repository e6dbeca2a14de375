//! Searches for many texts at once.

use aho_corasick::{AhoCorasick, AhoCorasickKind};

/// Returns for each of `sought` whether one of `texts` contains it. All are searched for at once, because
/// single searches would read all texts again for each.
pub(crate) fn contained_in<'t>(
    sought: &[String],
    texts: impl Iterator<Item = &'t str> + Clone,
) -> Vec<bool> {
    let search = AhoCorasick::builder()
        .kind(Some(AhoCorasickKind::ContiguousNFA))
        .build(sought);
    let Ok(search) = search else {
        // The automaton would be too large.
        let is_contained = |own: &String| texts.clone().any(|text| text.contains(own.as_str()));
        return sought.iter().map(is_contained).collect();
    };
    let mut found = vec![false; sought.len()];
    let mut left = sought.len();
    for text in texts {
        if left == 0 {
            break;
        }
        for at in search.find_overlapping_iter(text) {
            let is_found = &mut found[at.pattern().as_usize()];
            left -= usize::from(!*is_found);
            *is_found = true;
            if left == 0 {
                break;
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contained_in_finds_overlapping_texts() {
        let sought = ["tide", "tides", "ide", "ebb", "tide", ""].map(str::to_owned);
        let texts = ["low tide", "an eb", "b"];
        assert_eq!(
            contained_in(&sought, texts.into_iter()),
            [true, false, true, false, true, true]
        );
        assert_eq!(contained_in(&sought[..1], std::iter::empty()), [false]);
        assert!(contained_in(&[], texts.into_iter()).is_empty());
    }
}
