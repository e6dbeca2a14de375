//! Distinguishes quoted lines within a section from lines of the text itself.

use baler_digest::ends_line;
use baler_provenance::is_blank;

/// The beginnings of the text's own lines: headings, entries, and the line about turns left.
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

/// Returns the quoted text with each line indented that could be mistaken for one of the text's own. All
/// other lines are unchanged, and a second application changes nothing.
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

/// Returns whether a line begins like one of the text's own, in upper or lower case.
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
    fn quoted_lines_never_begin_like_own_lines() {
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
    fn other_lines_are_unchanged() {
        for text in ["", "a", "  indented\n\n\tb", "- c", "日本語\n;"] {
            let shown = kept_apart(text);
            assert_eq!(shown.replace("\n  ;", "\n;"), text);
        }
    }
}
