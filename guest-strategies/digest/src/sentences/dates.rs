//! Recognises days of a month and other ordinals, which many languages write with a dot: `24. Dezember`.

/// German words before a number that make it an ordinal: `am 24.`, `vor dem 24.12.`
const IN_FRONT: [&str; 17] = [
    "am", "ab", "beim", "bis", "das", "dem", "den", "der", "des", "die", "im", "nach", "seit",
    "vom", "vor", "zum", "zur",
];

/// Short names of months, and forms of them, in lower case: German, Scandinavian, Slavic.
const MONTHS: [&str; 34] = [
    "jan", "feb", "mär", "mrz", "apr", "mai", "jun", "jul", "aug", "sep", "sept", "okt", "nov",
    "dez", "märz", "juni", "juli", "maj", "mars", "marts", "des", "dec", "maja", "marca", "lutego",
    "ledna", "února", "března", "dubna", "května", "srpna", "září", "října", "rujna",
];

/// Beginnings of names of months that no other word has, in lower case, of the same languages.
const BEGINNINGS: [&str; 41] = [
    "januar",
    "január",
    "janúar",
    "jänner",
    "februar",
    "február",
    "febrúar",
    "feber",
    "april",
    "apríl",
    "august",
    "ágúst",
    "september",
    "septembr",
    "oktober",
    "október",
    "oktobr",
    "októbr",
    "novemb",
    "nóvemb",
    "decemb",
    "dezemb",
    "desemb",
    "června",
    "července",
    "listopad",
    "prosince",
    "styczni",
    "kwietni",
    "czerwca",
    "lipca",
    "sierpni",
    "wrześni",
    "październik",
    "grudnia",
    "siječnja",
    "veljače",
    "ožujka",
    "travnja",
    "svibnja",
    "kolovoza",
];

/// End of all names of months in Finnish, before the ending of the case.
const FINNISH: &str = "kuu";

/// Most letters of a month's name that are compared.
const LONGEST: usize = 16;

/// Whether the dot after a number belongs to it, and the sentence continues. `in_front` is the text before
/// the number, `behind` the text after the dot.
pub(super) fn is_ordinal(in_front: &str, number: &str, behind: &str) -> bool {
    is_day(number) && (begins_with_month(behind) || ends_with_word(in_front))
}

/// `24`, `24.12`, and the last day of `24./25` and `24.-26`.
fn is_day(number: &str) -> bool {
    let is_joint = |c: char| matches!(c, '.' | '/' | '-' | '–');
    let mut parts = number.split(is_joint).filter(|part| !part.is_empty());
    let is_of_date =
        |part: &str| part.len() <= 2 && part.parse::<u8>().is_ok_and(|day| (1..=31).contains(&day));
    // A number with more parts is a version.
    number.len() <= LONGEST && parts.by_ref().take(2).all(is_of_date) && parts.next().is_none()
}

fn begins_with_month(behind: &str) -> bool {
    let letters = behind.trim_start().chars().take(LONGEST);
    let word: String = letters
        .take_while(|c| c.is_alphabetic())
        .flat_map(char::to_lowercase)
        .collect();
    MONTHS.contains(&word.as_str())
        || BEGINNINGS.iter().any(|start| word.starts_with(*start))
        || word.contains(FINNISH)
}

fn ends_with_word(in_front: &str) -> bool {
    let word = in_front.trim_end().rsplit(char::is_whitespace).next();
    let word = word.unwrap_or_default();
    let word = word.trim_start_matches(|c: char| !c.is_alphanumeric());
    IN_FRONT
        .iter()
        .any(|known| known.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_months_are_in_lower_case_and_short_enough() {
        for name in MONTHS.iter().chain(&BEGINNINGS) {
            assert_eq!(*name, name.to_lowercase());
            assert!(name.chars().count() <= LONGEST, "{name}");
            assert!(
                begins_with_month(&format!(" {}", name.to_uppercase())),
                "{name}"
            );
        }
    }

    #[test]
    fn days_are_distinguished_from_other_numbers() {
        for day in ["1", "24", "07", "24.12", "24./25", "24.-26", "24.–26"] {
            assert!(is_day(day), "{day}");
        }
        for other in [
            "0",
            "42",
            "124",
            "24.12.2025",
            "10.0.0.5",
            "1.2.3",
            "24x",
            "2000000000000001",
        ] {
            assert!(!is_day(other), "{other}");
        }
    }

    #[test]
    fn a_month_after_or_a_word_before_makes_an_ordinal() {
        assert!(is_ordinal("Außer ", "24", "  Dezember müssen"));
        assert!(is_ordinal("Aloita ", "6", " Joulukuuta"));
        assert!(is_ordinal("Nie (Vor dem ", "15", " Arbeitstag"));
        assert!(!is_ordinal("The pier is ", "5", " Maintain it."));
        assert!(!is_ordinal("Use number ", "3", " Never push."));
        assert!(!is_ordinal("", "3", ""));
    }
}
