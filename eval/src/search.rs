//! Which of many texts stand in others.

use aho_corasick::{AhoCorasick, AhoCorasickKind};

/// Says of each of `sought` whether it stands in one of `texts`. All are looked for at once: one by
/// one, each would go through all of the texts.
pub(crate) fn stand_in<'t>(
    sought: &[String],
    texts: impl Iterator<Item = &'t str> + Clone,
) -> Vec<bool> {
    let search = AhoCorasick::builder()
        .kind(Some(AhoCorasickKind::ContiguousNFA))
        .build(sought);
    let Ok(search) = search else {
        // They have more bytes than it can number.
        let stands = |own: &String| texts.clone().any(|text| text.contains(own.as_str()));
        return sought.iter().map(stands).collect();
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
    fn each_text_is_found_wherever_it_stands() {
        let sought = ["tide", "tides", "ide", "ebb", "tide", ""].map(str::to_owned);
        let texts = ["low tide", "an eb", "b"];
        assert_eq!(
            stand_in(&sought, texts.into_iter()),
            [true, false, true, false, true, true]
        );
        assert_eq!(stand_in(&sought[..1], std::iter::empty()), [false]);
        assert!(stand_in(&[], texts.into_iter()).is_empty());
    }
}
