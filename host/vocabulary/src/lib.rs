//! Counts tokens of `o200k_base`, the vocabulary of the newer OpenAI models.
//!
//! The tables are made by the build script from the `tiktoken` crate and read where they stand in the program.
//! Unpacking them at start would take a tenth of a second.

mod hash;
mod merge;
mod split;
mod table;

/// The vocabulary's name.
pub const NAME: &str = "o200k_base";

/// Returns the tokens of `text`. Special tokens such as `<|endoftext|>` count as ordinary text.
///
/// The time grows with the length of the text, and for a run of letters, or of punctuation, with `n log n` of its
/// length.
#[must_use]
pub fn count(text: &str) -> u64 {
    let mut count = 0;
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(split::first(rest));
        count += merge::count(piece.as_bytes());
        rest = after;
    }
    count
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    fn expected(text: &str) -> u64 {
        let vocabulary = tiktoken::get_encoding(super::NAME).expect("tiktoken has it");
        vocabulary.count(text) as u64
    }

    #[test]
    fn prose_and_code_count_as_by_the_reference() {
        for text in [
            include_str!("lib.rs"),
            include_str!("../../../README.md"),
            "HTTPServer'S can't, WE'LL'd  \n\n \t x\r\n/// …",
            "昨日の議事録を、港湾局へ送ってください。\u{3000}よろしく！",
            "Привет, мир! Ελληνικά ΚΑΙ ǅ ʰa e\u{301}\u{301}E\u{301}x अनुमति",
            "12345678 ٣٤٥٦ ½Ⅷ x² a1b2",
            "👩‍👩‍👧‍👦🏳️‍🌈 ok\u{a0}\u{2028}next",
            "it'ſ IT'RE 'llama 'LLAMA",
        ] {
            assert_eq!(super::count(text), expected(text), "{text}");
        }
        for long in [
            "ab".repeat(3_000),
            "é—".repeat(900),
            "漢字".repeat(1_000),
            "= ".repeat(500),
        ] {
            assert_eq!(super::count(&long), expected(&long));
        }
    }

    proptest! {
        /// Characters of every class beside one another, of which few are frequent in prose.
        #[test]
        fn any_text_counts_as_by_the_reference(
            text in "([ '\r\n\t/.,Aa0stmdlvreLVE\u{a0}\u{2028}ſéÉǅʰ漢あ\u{301}\u{93e}½²٣—👍]|\\PC|[A-Z][a-z]{1,9}){0,60}"
        ) {
            prop_assert_eq!(super::count(&text), expected(&text));
        }
    }
}
