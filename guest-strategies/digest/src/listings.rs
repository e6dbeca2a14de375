//! Folds logs within a text that tells something.

use super::errors;

/// Number of consecutive lines of one form that make a listing, and how many of them stay.
const LISTING: usize = 5;
const SHOWN: usize = 1;

/// Returns a text in which the first of many consecutive lines of one form stands for all, followed by how many are left
/// out.
pub(super) fn folded(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let mut folded = String::with_capacity(text.len());
    let mut begin = 0;
    while begin < lines.len() {
        let own = form(lines[begin]);
        let rest = lines[begin..].iter();
        let length = rest.take_while(|line| form(line) == own).count();
        let is_listing = length >= LISTING && !own.is_empty();
        let shown = if is_listing { SHOWN } else { length };
        for line in &lines[begin..begin + shown] {
            folded.push_str(line);
            folded.push('\n');
        }
        if is_listing {
            folded.push_str(&format!("[… {} lines like it …]\n", length - shown));
        }
        begin += length;
    }
    folded
}

/// Returns the form of a line of a log: its words up to a time with seconds, with one letter for a word and one digit for a
/// number. Empty for other lines, as of a timetable, and for those that mention an error.
fn form(line: &str) -> String {
    let mut words = line.split_whitespace();
    let first = shape(words.next().unwrap_or_default());
    let second = shape(words.next().unwrap_or_default());
    let has_time = |form: &str| form.contains("0:0:0");
    match (has_time(&first), has_time(&second)) {
        _ if errors::is_mentioned(line) => String::new(),
        (true, _) => first,
        (false, true) => first + " " + &second,
        (false, false) => String::new(),
    }
}

fn shape(text: &str) -> String {
    let mut shape = String::new();
    for c in text.chars() {
        let sign = match c {
            c if c.is_numeric() => '0',
            c if c.is_alphabetic() => 'a',
            c => c,
        };
        if !(matches!(sign, '0' | 'a') && shape.ends_with(sign)) {
            shape.push(sign);
        }
    }
    shape
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_log_lines_the_first_stands() {
        let log: String = (10..30)
            .map(|second| format!("09:41:{second} INFO lock {second} filled, gate shut\n"))
            .collect();
        let text = format!("## Result\nThe gate sticks at lock 14.\n\n{log}\nMend it.\n");
        assert_eq!(
            folded(&text),
            "## Result\nThe gate sticks at lock 14.\n\n09:41:10 INFO lock 10 filled, gate shut\n\
             [… 19 lines like it …]\n\nMend it.\n"
        );
    }

    #[test]
    fn what_is_told_in_lines_stays() {
        let text = "1. The gate sticks.\n2. Its hinge is bent since May.\n3. Nobody oiled it, says Ана.\n\
            4. A new one costs 300.\n5. It is there in a week.\n6. Until then lock 15 will do.\n\n\n\n\n\n\n\n";
        assert_eq!(folded(text), text);
        let table = "| lock | gate |\n| 14 | bent |\n| 15 | rust |\n| 16 | shut |\n| 17 | lost |\n| 18 | wood |\n";
        assert_eq!(folded(table), table);
        let day = "09:00 Standup\n10:30 Dentist\n12:00 Lunch\n14:00 Review\n16:00 Call\n";
        assert_eq!(folded(day), day);
        let log = "05:12:10 INFO fill\n05:12:11 INFO fill\n05:12:12 FATAL gate lost\n05:12:13 INFO fill\n05:12:14 INFO fill\n";
        assert_eq!(folded(log), log);
    }
}
