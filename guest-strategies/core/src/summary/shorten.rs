//! Cuts a summary that the model could not shorten to its limit.

use baler_strategy::Conversation;

/// Returns the start of the text and an ellipsis, in at most `room` tokens. The text ends with a sentence
/// if one ends in its second half. `None` if nothing would be left.
pub(crate) fn cut(conversation: &Conversation<'_>, text: &str, room: u32) -> Option<String> {
    let fits = |end: usize| conversation.count(&shown(text, end)) <= room;
    // The longest prefix that fits; tokens grow with the text, by and large.
    let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).skip(1).collect();
    let longest = ends[..ends.partition_point(|end| fits(*end))].last()?;
    let sentence = text[..*longest]
        .char_indices()
        .rev()
        .take_while(|(at, _)| *at > longest / 2)
        .map(|(at, character)| (at + character.len_utf8(), character))
        .find(|(end, character)| ends_a_sentence(*character, &text[*end..]))
        .map(|(end, _)| end);
    let end = sentence.filter(|end| fits(*end)).unwrap_or(*longest);
    let cut = shown(text, end);
    (cut.len() > "…".len() && conversation.count(&cut) <= room).then_some(cut)
}

/// Returns whether a sentence ends here. A full stop may also be part of a file name.
fn ends_a_sentence(character: char, rest: &str) -> bool {
    match character {
        '。' | '！' | '？' | '\n' => true,
        '.' | '!' | '?' => rest.starts_with(char::is_whitespace),
        _ => false,
    }
}

fn shown(text: &str, end: usize) -> String {
    format!("{} …", text[..end].trim_end()).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use baler_strategy::testing::Recording;

    fn cut_to(text: &str, room: u32) -> Option<String> {
        let recording = Recording::new();
        cut(&Conversation::new(&recording), text, room)
    }

    #[test]
    fn it_ends_with_a_sentence_where_it_can() {
        let text = "The build is red. The tests fail. The rest was not looked at yet.";
        assert_eq!(
            cut_to(text, 12).as_deref(),
            Some("The build is red. The tests fail. …")
        );
        assert_eq!(
            cut_to("Look into src/main.rs and src/lib.rs", 8).as_deref(),
            Some("Look into src/main.rs and sr …")
        );
        assert_eq!(
            cut_to("no sentence at all", 4).as_deref(),
            Some("no sentence …")
        );
    }

    #[test]
    fn text_of_any_script_is_cut_between_characters() {
        assert_eq!(
            cut_to("構築は失敗した。試験も失敗した。", 8).as_deref(),
            Some("構築は失敗した。 …")
        );
    }

    #[test]
    fn where_nothing_fits_there_is_nothing() {
        assert_eq!(cut_to("anything", 0), None);
    }
}
