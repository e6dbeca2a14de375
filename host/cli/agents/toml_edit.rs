//! Changes of a TOML text that keep every other byte of it.

use std::ops::Range;

use serde_json::{Value, json};

use super::configuration::Edit;

/// Returns the edit that sets the table `LIST.KEY`, at the end of the text if it is new. `None`: the text is not TOML, or
/// has the table in another form than under a header of its own.
pub(super) fn set(text: &str, list: &str, key: &str, value: &Value) -> Option<Edit> {
    let before: toml::Table = text.parse().ok()?;
    let lines = lines_of(list, key, value);
    let ours: toml::Table = lines.parse().ok()?;
    let mut wanted = before.clone();
    let entries = wanted
        .entry(list)
        .or_insert_with(|| toml::Value::Table(toml::Table::new()));
    let ours = ours.get(list)?.get(key)?.clone();
    let old = entries.as_table_mut()?.insert(key.to_owned(), ours);
    if wanted == before {
        return Some(Edit::at_end_of(text, String::new()));
    }
    let range = match old {
        Some(_) => range_of(text, list, key)?,
        None => text.len()..text.len(),
    };
    let blank_line = match text.get(..range.start)? {
        "" => "",
        before if before.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    let text_of_edit = [blank_line, &lines].concat();
    let edit = Edit {
        range,
        text: text_of_edit,
    };
    checked(text, edit, wanted, list)
}

/// Returns the edit that removes the table `LIST.KEY`; an edit without effect if it is not there. `None`: the text is not
/// TOML, or has the table in another form than under a header of its own.
pub(super) fn remove(text: &str, list: &str, key: &str) -> Option<Edit> {
    let mut wanted: toml::Table = text.parse().ok()?;
    let entries = wanted.get_mut(list).and_then(toml::Value::as_table_mut);
    if entries.and_then(|entries| entries.remove(key)).is_none() {
        return Some(Edit::at_end_of(text, String::new()));
    }
    let edit = Edit {
        range: range_of(text, list, key)?,
        text: String::new(),
    };
    checked(text, edit, wanted, list)
}

/// Returns where the lines of a table and of those in it are, with a blank line before them.
fn range_of(text: &str, list: &str, key: &str) -> Option<Range<usize>> {
    let header = format!("[{list}.{key}]");
    let inner = format!("[{list}.{key}.");
    let mut own: Option<Range<usize>> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let words = line.trim();
        match own.as_mut() {
            None if words == header => own = Some(start..at),
            None => {}
            Some(_) if words.starts_with('[') && !words.starts_with(&inner) => break,
            // Blank lines and comments at the end belong to what follows.
            Some(lines) if !words.is_empty() && !words.starts_with('#') => lines.end = at,
            Some(_) => {}
        }
    }
    let own = own?;
    let has_blank_line = text.get(..own.start)?.ends_with("\n\n");
    Some(own.start - usize::from(has_blank_line)..own.end)
}

/// Returns an edit if the text says then what is wanted. That the list is there, and empty, says nothing.
fn checked(text: &str, edit: Edit, wanted: toml::Table, list: &str) -> Option<Edit> {
    let after: toml::Table = edit.apply(text).parse().ok()?;
    let without_empty = |mut table: toml::Table| {
        let entries = table.get(list).and_then(toml::Value::as_table);
        if entries.is_some_and(toml::Table::is_empty) {
            table.remove(list);
        }
        table
    };
    (without_empty(after) == without_empty(wanted)).then_some(edit)
}

/// Writes a table of texts and lists of texts.
pub(super) fn lines_of(list: &str, key: &str, value: &Value) -> String {
    let members = value.as_object().into_iter().flatten();
    // JSON texts and lists of them are TOML's, too.
    let members = members.map(|(name, value)| format!("{name} = {}\n", json!(value)));
    format!("[{list}.{key}]\n{}", members.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set_in(text: &str) -> Option<String> {
        let value = json!({"command": "/bin/baler", "args": ["mcp"]});
        let edit = set(text, "mcp_servers", "baler", &value)?;
        Some(edit.apply(text))
    }

    fn removed(text: &str) -> String {
        let edit = remove(text, "mcp_servers", "baler").expect("TOML");
        edit.apply(text)
    }

    #[test]
    fn a_table_is_set_and_removed_again_and_all_else_stays() {
        for text in [
            "",
            "model = 'x' # mine\n",
            "# mine\n[mcp_servers.other]\ncommand = \"o\"\n\n# last\n",
        ] {
            let with = set_in(text).expect("TOML");
            let ours = "[mcp_servers.baler]\nargs = [\"mcp\"]\ncommand = \"/bin/baler\"\n";
            assert!(with.starts_with(text) && with.ends_with(ours), "{with}");
            assert_eq!(set_in(&with).as_deref(), Some(&*with));
            assert_eq!(removed(&with), text);
            assert_eq!(removed(text), text);
        }
    }

    #[test]
    fn another_table_of_that_name_is_replaced_with_what_is_in_it() {
        let text = "a = 1\n\n[mcp_servers.baler]\ncommand = \"old\"\n\n[mcp_servers.baler.env]\nX = \"1\"\n\n# of b\n[b]\nc = 2\n";
        let with = set_in(text).expect("TOML");
        assert!(!with.contains("old") && !with.contains("env"), "{with}");
        assert!(with.starts_with("a = 1\n\n[mcp_servers.baler]\n"), "{with}");
        assert!(with.ends_with("\n\n# of b\n[b]\nc = 2\n"), "{with}");
        assert_eq!(removed(text), "a = 1\n\n# of b\n[b]\nc = 2\n");
    }

    #[test]
    fn a_table_in_another_form_is_left_alone() {
        for text in [
            "mcp_servers = { x = { command = \"o\" } }\n",
            "[mcp_servers]\nbaler = { command = \"o\" }\n",
            "mcp_servers = 1\n",
            "no TOML",
        ] {
            assert_eq!(set_in(text), None, "{text}");
        }
    }
}
