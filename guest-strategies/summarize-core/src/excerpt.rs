//! Shortens texts that are too long for a transcript.

/// Returns the start and the end of a text of more than `limit` characters, with the number of omitted
/// characters between them. The end gets a third, because errors are usually there.
pub(crate) fn excerpt(text: &str, limit: usize) -> String {
    // A character has at least one byte, so short texts need no counting.
    let length = if text.len() <= limit {
        return text.to_owned();
    } else {
        text.chars().count()
    };
    if length <= limit {
        return text.to_owned();
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
    fn text_of_any_script_is_cut_between_characters() {
        assert_eq!(excerpt("漢字かな", 4), "漢字かな");
        assert_eq!(
            excerpt("漢字かな混じり", 3),
            "漢字 … [4 characters left out] … り"
        );
    }
}
