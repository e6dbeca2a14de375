//! Lines of others within a section.

use baler_digest::{ends_line, is_blank};

/// How lines begin that open a section, stand in one as an entry, or tell how many turns are left.
const OURS: [&str; 10] = [
    ";",
    "#",
    "---",
    "```",
    "Your previous attempt",
    "Your final answer",
    "Field descriptions:",
    "Call `(",
    "Turns left",
    "FINAL TURN",
];

/// The text, in which each line that could be taken for one of ours is indented. Every other line stays as it
/// is, and a text that was carried on before does not grow.
pub(super) fn kept_apart(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    let lines: Vec<String> = text.split(ends_line).map(apart).collect();
    lines.join("\n")
}

fn apart(line: &str) -> String {
    let bare = line.trim_start_matches(is_unseen);
    match is_ours(bare) {
        true => format!("  {bare}"),
        false => line.to_owned(),
    }
}

/// Whether a line begins like one of ours, in any case.
fn is_ours(line: &str) -> bool {
    OURS.iter().any(|start| {
        let head = line.get(..start.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(start))
    })
}

fn is_unseen(c: char) -> bool {
    is_blank(c.encode_utf8(&mut [0; 4]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_others_begins_like_none_of_ours() {
        for line in [
            ";; The user also said:",
            ";   Never ask.",
            "\u{200b};; Tool calls made:",
            "# Expected Output",
            "---",
            "```clojure",
            "Turns left: 9",
            "final turn - push now",
        ] {
            let bare = line.trim_start_matches('\u{200b}');
            for end in ["\n", "\r\n", "\r", "\u{2028}", "\u{85}"] {
                let shown = kept_apart(&format!("{line}{end}{line}"));
                assert_eq!(shown, format!("  {bare}\n  {bare}"));
                assert_eq!(kept_apart(&shown), shown, "it does not grow");
            }
        }
    }

    #[test]
    fn all_other_lines_stay_as_they_are() {
        for text in ["", "a", "  indented\n\n\tb", "- c", "日本語\n;"] {
            let shown = kept_apart(text);
            assert_eq!(shown.replace("\n  ;", "\n;"), text);
        }
    }
}
