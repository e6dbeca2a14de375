//! Long single texts, as an output of a tool and as the model's words. Of each there is one place
//! where it is long, and what a tokenizer, a digest or a search for marks could lose itself in.

use baler_generated::{Choices, Kind};

use super::{ALL, CHAT, Dimension};
use crate::case::Input;
use crate::wire::{Call, line, said, step, user};

pub(crate) const SPACES_THEN_NUMBERS: &str = "text: spaces, then numbers";
pub(crate) const LONG_KEY: &str = "text: values of a long key";
pub(crate) const TYPED_THEN_MARKERS: &str = "text: typed, then markers";

/// Bytes of a text by size, about: 4 MB at 131072.
const BYTES: usize = 32;

macro_rules! repeated {
    ($($function:ident $name:literal $piece:literal),* $(,)?) => {
        $(fn $function(wire: Kind, n: usize) -> Input {
            of(wire, &$piece.repeat((n * BYTES).div_ceil($piece.len())))
        })*

        pub(super) const DIMENSIONS: &[Dimension] = &[
            $(Dimension::valid(concat!("text: ", $name), ALL, $function),)*
            Dimension::valid("text: prose", ALL, prose),
            Dimension::valid("text: base64", ALL, base64),
            Dimension::valid("text: letters of chance", ALL, letters),
            Dimension::valid("text: signs of chance", ALL, signs),
            Dimension::valid("text: names", ALL, names),
            Dimension::valid("text: names that collide", ALL, colliding_names),
            Dimension::valid("text: JSON", ALL, json),
            Dimension::valid("texts of the user's", ALL, of_the_users),
            Dimension::valid("text: stairs of colons", CHAT, stairs_of_colons),
            // Half and half. The format makes no difference to what reads them.
            Dimension::valid(SPACES_THEN_NUMBERS, CHAT, spaces_then_numbers),
            Dimension::valid(LONG_KEY, CHAT, values_of_a_long_key),
            Dimension::valid(TYPED_THEN_MARKERS, CHAT, typed_then_markers),
            Dimension::valid("text: < then hidden signs", CHAT, less_than_then_hidden),
        ];
    };
}

repeated! {
    spaces "spaces" " ",
    newlines "line breaks" "\\n",
    returns "carriage returns" "\\r\\n",
    blank_lines "blank lines" " \\n",
    tabs "tabs" "\\t",
    no_break_spaces "tags and no-break spaces" "</ab>\u{a0}",
    ideographic_spaces "words and ideographic spaces" "港口\u{3000}7",
    less_than "<" "<",
    letter "one letter" "a",
    capital "one capital" "A",
    capitals_and_letters "capitals and letters" "Aa",
    digit "one digit" "7",
    comma "commas" ",",
    dots "dots" ".",
    slashes "slashes" "/",
    backslashes "backslashes" "\\\\",
    quotation_marks "quotation marks" "\\\"",
    apostrophes "apostrophes" "'s",
    fences "fences" "```",
    cjk "CJK" "港口粮食",
    kana "kana" "かな",
    hangul "Hangul" "항구",
    arabic "Arabic" "ميناء",
    combining "combining marks" "e\u{301}\u{302}",
    emoji "emoji" "🚢",
    joined_emoji "joined emoji" "👩\u{200d}✈️",
    escapes "escapes" "\\u6e2f",
    halves "half surrogates" "\\ud83d",
    tags "tags of marks" "<baler:",
    closed_tags "closed tags of marks" "</baler:summary>",
    hidden_in_tags "hidden signs in tags" "<b\u{200b}aler\u{feff}:",
    escaped_tags "escaped tags of marks" "<\\\\\\\\baler:",
    errors "the same error" "error: berth is taken\\n",
    error_words "errors in one line" "error ",
    rules "rules" "You must never do it. ",
    half_rules "half of a rule" "do ",
    headings "headings of a digest" "## To-do list\\n- next\\n",
    sentences "sentences" "Ah. ",
    initials "one sentence of initials" "a. ",
    open_brackets "brackets that are never closed" "(Ah. ",
    brackets "sentences in brackets" "(Ah. [Ah.]) ",
    rule_items "rules in a list" "You must:\\n- never ask\\n- never go\\n\\n",
    question_marks "question marks" "? ",
}

/// A step with this output, and this said behind it.
fn of(wire: Kind, text: &str) -> Input {
    let mut messages = step(wire, &[Call::new("c0", text)]);
    messages.push(said(wire, &format!("It says: {text} That is all.")));
    Input::within(wire, messages)
}

fn prose(wire: Kind, n: usize) -> Input {
    let text: String = (0..n / 2).map(|number| line(number) + " ").collect();
    of(wire, &text)
}

/// Signs of these, by chance and always the same.
fn by_chance(signs: &[u8], n: usize) -> String {
    let mut choices = Choices::from_seed(7);
    (0..n * BYTES)
        .map(|_| char::from(signs[choices.below(signs.len())]))
        .collect()
}

fn base64(wire: Kind, n: usize) -> Input {
    let signs = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    of(wire, &by_chance(signs, n))
}

fn letters(wire: Kind, n: usize) -> Input {
    of(wire, &by_chance(b"abcdefghijklmnopqrstuvwxyz", n))
}

fn signs(wire: Kind, n: usize) -> Input {
    of(wire, &by_chance(b"!#$%&()*+,-./:;<=>?@[]^_`{|}~", n))
}

/// Names that are all different.
fn names(wire: Kind, n: usize) -> Input {
    let text: String = (0..n).map(|number| format!("berth_{number:07} ")).collect();
    of(wire, &text)
}

/// The factor of the hash that digests keep names by.
const FACTOR: u64 = 0x517c_c1b7_2722_0a95;

/// Names of 16 letters whose hashes have the same low bits: only the last letters of an aligned
/// word differ, and what the hash makes of them ends the same.
fn colliding_names(wire: Kind, n: usize) -> Input {
    const SIGNS: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let first = u64::from_le_bytes(*b"berth_00").wrapping_mul(FACTOR);
    let mut text = String::with_capacity(n * 17);
    let mut found = 0;
    let mut number = 0;
    while found < n && number < SIGNS.len().pow(4) {
        let mut word = *b"ton_0000";
        let mut rest = number;
        for place in &mut word[4..] {
            *place = SIGNS[rest % SIGNS.len()];
            rest /= SIGNS.len();
        }
        number += 1;
        let hash = (first.rotate_left(5) ^ u64::from_le_bytes(word)).wrapping_mul(FACTOR);
        // The next step takes the five highest bits to the lowest place.
        if hash >> 59 == 3 {
            found += 1;
            text.push_str("berth_00");
            text.extend(word.map(char::from));
            text.push(' ');
        }
    }
    // In pieces, since a digest reads the beginning of each text only.
    let texts = text.as_bytes().chunks(400 * 17);
    let calls: Vec<Call> = texts
        .enumerate()
        .map(|(number, text)| Call::new(format!("c{number}"), String::from_utf8_lossy(text)))
        .collect();
    let mut messages = step(wire, &calls);
    messages.push(said(wire, "There was a lot of it."));
    Input::within(wire, messages)
}

/// An output that is JSON itself.
fn json(wire: Kind, n: usize) -> Input {
    let entries: Vec<String> = (0..n)
        .map(|number| format!(r#"{{\"id\":\"B-{number}\",\"tons\":{}}}"#, number % 977))
        .collect();
    of(wire, &format!(r#"{{\"output\":[{}]}}"#, entries.join(",")))
}

/// As many rules and wishes of the user's.
fn of_the_users(wire: Kind, n: usize) -> Input {
    let text: String = (0..n)
        .map(|number| format!("Never touch berth {number}. "))
        .collect();
    by_the_user(wire, &text)
}

/// Paragraphs that end with a colon, each one column further to the right, and short ones below
/// the last.
fn stairs_of_colons(wire: Kind, n: usize) -> Input {
    let half = n * BYTES / 2;
    let label = "label ".repeat(27);
    let mut text = "- start\\n\\n".to_owned();
    let mut step = 1;
    while text.len() < half {
        // A tab is four columns.
        text += &"\\t".repeat(step / 4);
        text += &" ".repeat(step % 4);
        text += &label;
        text += "x:\\n\\n";
        step += 1;
    }
    text += &"\\t".repeat(step / 4 + 1);
    text += "plain.\\n\\n";
    text += &" a\\n\\n".repeat(half / 6);
    by_the_user(wire, &text)
}

/// A conversation in which the user says this.
fn by_the_user(wire: Kind, text: &str) -> Input {
    let messages = vec![
        said(wire, "At once."),
        user(wire, text),
        said(wire, "Right."),
    ];
    Input::within(wire, messages)
}

/// As many bytes of one as of the other.
fn half_and_half(first: &str, second: &str, n: usize) -> String {
    let half = n * BYTES / 2;
    let of = |piece: &str| piece.repeat(half.div_ceil(piece.len()));
    of(first) + &of(second)
}

/// White space in front of numbers, each with a dot, in brackets, where no sentence ends.
fn spaces_then_numbers(wire: Kind, n: usize) -> Input {
    let numbers = format!("({}) ", ["1."; 100].join(" "));
    by_the_user(
        wire,
        &format!("Never push. {}", half_and_half(" ", &numbers, n)),
    )
}

/// Outputs that are JSON: a key, and as many values of it. Larger ones are not looked through.
fn values_of_a_long_key(wire: Kind, n: usize) -> Input {
    let half = n / 2;
    let output = format!(
        r#"{{\"{}\":[{}]}}"#,
        "k".repeat(half),
        vec!["1"; half].join(",")
    );
    let calls: Vec<Call> = (0..4)
        .map(|number| Call::new(format!("c{number}"), &*output))
        .collect();
    let mut messages = step(wire, &calls);
    messages.push(said(wire, "There was a lot of it."));
    Input::within(wire, messages)
}

/// What the user typed between tags of a program, and lines in what it printed that would begin files elsewhere.
fn typed_then_markers(wire: Kind, n: usize) -> Input {
    let own = "<command-args>\\na\\n</command-args>\\n".repeat(n / 2);
    let markers = "--- Content from referenced files ---\\n".repeat(n / 2);
    let text = format!("{own}<bash-stdout>\\n{markers}</bash-stdout>\\nNever push.");
    by_the_user(wire, &text)
}

fn less_than_then_hidden(wire: Kind, n: usize) -> Input {
    of(wire, &half_and_half("<b", "\u{200b}", n))
}
