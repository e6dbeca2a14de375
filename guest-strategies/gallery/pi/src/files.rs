//! Lists of the files that calls of tools read and changed.

use baler_strategy::{Content, Conversation, UnitKind};
use serde_json::Value;

const READ: &str = "read-files";
const MODIFIED: &str = "modified-files";

/// Returns the lists of files of these units, those of earlier checkpoints included, in at most `most` tokens.
/// A file that was changed is not in the list of read ones. Empty if there are no files.
pub(crate) fn lists(conversation: &Conversation<'_>, units: &[usize], most: u32) -> String {
    // Oldest first, each once, where it was used last.
    let (mut read, mut modified) = (Vec::new(), Vec::new());
    for unit in units {
        let messages = conversation.messages(*unit);
        let is_summary = conversation.units()[*unit].kind == UnitKind::Summary;
        for part in messages.iter().flat_map(|message| &message.parts) {
            match &part.content {
                Content::Text(text) if is_summary => {
                    listed(text, READ).for_each(|path| add(&mut read, path));
                    listed(text, MODIFIED).for_each(|path| add(&mut modified, path));
                }
                Content::Call(call) => {
                    let files = match call.name.as_str() {
                        "read" => &mut read,
                        "write" | "edit" => &mut modified,
                        _ => continue,
                    };
                    let arguments = serde_json::from_str::<Value>(&call.arguments);
                    let path = arguments
                        .ok()
                        .and_then(|all| Some(all.get("path")?.as_str()?.to_owned()));
                    path.iter().for_each(|path| add(files, path));
                }
                _ => {}
            }
        }
    }
    read.retain(|path| !modified.contains(path));
    loop {
        let text = list(READ, &read) + &list(MODIFIED, &modified);
        if conversation.count(&text) <= most {
            return text;
        }
        let longer = if read.is_empty() {
            &mut modified
        } else {
            &mut read
        };
        longer.drain(..longer.len().div_ceil(2));
    }
}

fn add(files: &mut Vec<String>, path: &str) {
    let path = path.trim();
    files.retain(|other| other != path);
    // A path of several lines could close the list.
    if !path.is_empty() && !path.contains(['\n', '<']) {
        files.push(path.to_owned());
    }
}

/// Iterates the files in a list of an earlier checkpoint.
fn listed<'t>(text: &'t str, tag: &str) -> impl Iterator<Item = &'t str> {
    let rest = text
        .rsplit_once(&format!("<{tag}>\n"))
        .map(|(_, rest)| rest);
    let list = rest.and_then(|rest| rest.split_once(&format!("\n</{tag}>")));
    list.map_or("", |(list, _)| list).lines()
}

fn list(tag: &str, files: &[String]) -> String {
    if files.is_empty() {
        return String::new();
    }
    let mut files = files.to_vec();
    files.sort();
    format!("\n\n<{tag}>\n{}\n</{tag}>", files.join("\n"))
}
