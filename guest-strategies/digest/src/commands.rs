//! Shell commands that read or write one file, so that they count as what they do with it.

/// Programs that print a file.
const PRINTING: [&str; 8] = ["cat", "nl", "head", "tail", "less", "more", "bat", "sed"];

/// Beginnings of lines that name a file in a patch, with what is done to it.
const PATCHED: [(&str, &str); 3] = [
    ("*** Update File: ", "edited"),
    ("*** Add File: ", "created"),
    ("*** Delete File: ", "deleted"),
];

/// Characters that make a command more than one, or send its output elsewhere.
const JOINING: [char; 5] = ['|', ';', '&', '>', '$'];

/// Returns what a command does with one file: the verb and the path. `None` for all other commands.
pub(super) fn on_file(command: &str) -> Option<(&'static str, &str)> {
    if let Some(patched) = patched(command) {
        return Some(patched);
    }
    if let Some(written) = written(command) {
        return Some(written);
    }
    let command = without_viewer(command);
    if is_joined(command) {
        return None;
    }
    let mut words = words(command);
    let program = words.next()?;
    if !PRINTING.contains(&program) {
        return None;
    }
    let mut rest: Vec<&str> = words.collect();
    let verb = match (program, rest.first()) {
        ("sed", Some(&"-n")) => "read",
        ("sed", Some(first)) if first.starts_with("-i") => "edited",
        ("sed", _) => return None,
        _ => "read",
    };
    if program == "sed" {
        let script = rest.iter().position(|word| is_script(word))?;
        rest.remove(script);
    }
    // What else there is are options and their numbers.
    let mut paths = rest.iter().filter(|word| is_path(word));
    let path = paths.next()?;
    paths.next().is_none().then_some((verb, *path))
}

/// Returns a command that prints a file without what shows a part of that: `nl -ba a.rs | sed -n '7,9p'`.
fn without_viewer(command: &str) -> &str {
    let Some((printing, viewer)) = command.split_once(" | ") else {
        return command;
    };
    let views = ["sed -n ", "head", "tail"];
    let is_viewer = views.iter().any(|program| viewer.starts_with(program)) && !is_joined(viewer);
    // It may be about another file.
    match is_viewer && !viewer.contains(['/', '.']) {
        true => printing,
        false => command,
    }
}

/// Whether a command is more than one, or sends its output elsewhere, by signs that are not within quotes.
fn is_joined(command: &str) -> bool {
    let mut quote: Option<char> = None;
    let mut before = ' ';
    let is_joined = command.chars().any(|c| match quote {
        Some(open) if open == c => {
            quote = None;
            false
        }
        // The shell runs what is in these.
        Some('"') => matches!(c, '$' | '`'),
        Some(_) => false,
        None if matches!(c, '\'' | '"') => {
            quote = Some(c);
            false
        }
        None => {
            let is_comment = c == '#' && before.is_whitespace();
            before = c;
            c == '\n' || is_comment || JOINING.contains(&c)
        }
    });
    is_joined || quote.is_some()
}

/// Whether a word of `sed` is its script, the first one that is no option. On some systems, `-i` takes an ending for a
/// copy, which is mostly empty.
fn is_script(word: &str) -> bool {
    !word.is_empty() && !word.starts_with('-')
}

/// Returns the first file of a patch, if it is the only one.
fn patched(command: &str) -> Option<(&'static str, &str)> {
    let mut found = command.lines().filter_map(|line| {
        let named =
            |(start, verb): &(&str, &'static str)| Some((*verb, line.strip_prefix(start)?.trim()));
        PATCHED.iter().find_map(named)
    });
    let first = found.next().filter(|(_, path)| !path.is_empty())?;
    // Whatever follows the patch, but for the end of a text, is another command.
    let is_end = |line: &str| !line.trim().contains(char::is_whitespace);
    let behind = command.split_once("*** End Patch");
    if behind.is_some_and(|(_, behind)| !behind.lines().all(is_end)) {
        return None;
    }
    found.next().is_none().then_some(first)
}

/// Returns the file that a command writes from text within it: `cat <<'EOF' > a.py`.
fn written(command: &str) -> Option<(&'static str, &str)> {
    let line = command.lines().next()?;
    if !line.starts_with("cat ") || !line.contains("<<") || line.contains(['|', ';', '&']) {
        return None;
    }
    let (_, behind) = line.split_once('>')?;
    let verb = match behind.starts_with('>') {
        true => "edited",
        false => "created",
    };
    let path = words(behind.trim_start_matches('>')).next()?;
    let (_, mark) = line.split_once("<<")?;
    let mark = words(mark.trim_start_matches('-')).next()?;
    // Whatever follows the text is another command.
    let behind = command
        .lines()
        .skip(1)
        .skip_while(|line| line.trim() != mark);
    let is_alone = behind.skip(1).all(|line| line.trim().is_empty());
    (is_alone && is_path(path)).then_some((verb, path))
}

/// Whether a word is a path, and no option, pattern, range of lines (`1,200p`) or script (`s/hot/cold/`).
fn is_path(word: &str) -> bool {
    let is_script = ["s/", "s|", "s#", "/"]
        .iter()
        .any(|start| word.starts_with(start))
        && word.ends_with(['/', '|', '#', 'g', 'p', 'd'])
        && !word
            .rsplit('/')
            .next()
            .is_some_and(|name| name.contains('.'));
    word.contains(['/', '.'])
        && !word.starts_with('-')
        && !word.contains(['*', '<', '`'])
        && !is_script
}

/// Iterates the words of a command, without their quotes.
fn words(command: &str) -> impl Iterator<Item = &str> {
    let mut rest = command.trim();
    std::iter::from_fn(move || {
        rest = rest.trim_start();
        let first = rest.chars().next()?;
        if matches!(first, '\'' | '"')
            && let Some((word, behind)) = rest[1..].split_once(first)
        {
            rest = behind;
            return Some(word);
        }
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let word = &rest[..end];
        rest = &rest[end..];
        Some(word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_on_one_file_are_recognised() {
        for (command, expected) in [
            ("cat src/oven.rs", Some(("read", "src/oven.rs"))),
            (
                "sed -n '1,200p' 'apps/(own)/use.ts'",
                Some(("read", "apps/(own)/use.ts")),
            ),
            ("nl -ba src/oven.rs", Some(("read", "src/oven.rs"))),
            ("head -n 20 README.md", Some(("read", "README.md"))),
            (
                "sed -i 's/hot/cold/' src/oven.rs",
                Some(("edited", "src/oven.rs")),
            ),
            (
                "cat <<'EOF' > tests/oven.py\nprint()\nEOF",
                Some(("created", "tests/oven.py")),
            ),
            (
                "apply_patch *** Begin Patch\n*** Update File: src/oven.rs\n@@\n-a\n+b",
                Some(("edited", "src/oven.rs")),
            ),
            ("cat > a.py <<EOF\nx\nEOF\npython a.py", None),
            (
                "apply_patch <<P\n*** Begin Patch\n*** Add File: a\n+b\n*** End Patch\nP\ncargo test",
                None,
            ),
            ("cat src/oven.rs | head", Some(("read", "src/oven.rs"))),
            (
                "nl -ba src/oven.rs | sed -n '10,20p'",
                Some(("read", "src/oven.rs")),
            ),
            (
                "sed -i '721i\\    if self.heat:\n        self.heat.rest()' lib/oven.py",
                Some(("edited", "lib/oven.py")),
            ),
            (
                "sed -i '' -e 's|hot;|cold$|' src/oven.rs",
                Some(("edited", "src/oven.rs")),
            ),
            ("cat src/oven.rs | head src/mill.rs", None),
            ("cat src/oven.rs | grep heat", None),
            ("cat \"$(make)/oven.rs\"", None),
            ("cat src/oven.rs # it's hot\nmake", None),
            ("cat <<'E' >> a.py\nx\nE", Some(("edited", "a.py"))),
            ("cat a.rs b.rs", None),
            ("sed 's/a/b/' a.rs", None),
            ("make test", None),
            ("cat", None),
            ("cat src/*.rs", None),
        ] {
            assert_eq!(on_file(command), expected, "{command}");
        }
    }
}
