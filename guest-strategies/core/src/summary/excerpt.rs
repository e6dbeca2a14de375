//! Shortens texts that are too long for a transcript.

use baler_digest::masked;

/// Returns the start and the end of a text of more than `limit` characters, with the number of omitted
/// characters between them. The end gets a third, because errors are usually there. No secret stays, since the
/// model would repeat it.
pub(crate) fn excerpt(text: &str, limit: usize) -> String {
    // First, because half of a secret would not be known as one.
    let text = masked(text);
    // A character has at least one byte, so short texts need no counting.
    let length = if text.len() <= limit {
        return text.into_owned();
    } else {
        text.chars().count()
    };
    if length <= limit {
        return text.into_owned();
    }
    let tail = limit / 3;
    let end = |characters: usize| {
        text.char_indices()
            .nth(characters)
            .map_or(text.len(), |(at, _)| at)
    };
    let (head_ends, tail_starts) = (end(limit - tail), end(length - tail));
    format!(
        "{} … [{} characters left out] … {}",
        text[..head_ends].trim_end(),
        length - limit,
        text[tail_starts..].trim_start()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn start_and_end_stay_and_the_rest_is_counted() {
        let text = format!("first {}{}", "-".repeat(100), " last");
        assert_eq!(
            excerpt(&text, 15),
            "first ---- … [96 characters left out] … last"
        );
        assert_eq!(excerpt(&text, 111), text);
    }

    #[test]
    fn no_part_of_a_secret_stays() {
        let key = "ghp_k2Jq8Wm4Zt6Rb1Xc9Vn3Lp7Hs5Df0Gy";
        let text = format!("{}{key} {}", "a ".repeat(20), "b ".repeat(20));
        for limit in (10..text.len() + 2).step_by(3) {
            let shown = excerpt(&text, limit);
            assert!(!shown.contains("k2J") && !shown.contains("0Gy"), "{shown}");
        }
        assert!(excerpt(&text, text.len()).contains("a [secret] b"));
    }

    #[test]
    fn text_of_any_script_is_cut_between_characters() {
        assert_eq!(excerpt("漢字かな", 4), "漢字かな");
        assert_eq!(
            excerpt("漢字かな混じり", 3),
            "漢字 … [4 characters left out] … り"
        );
    }
}
