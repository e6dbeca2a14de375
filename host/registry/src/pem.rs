//! Keys as text: PEM.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Returns the label and the content of the first PEM block of a text.
pub(crate) fn read(text: &str) -> Option<(&str, Vec<u8>)> {
    let (_, rest) = text.split_once("-----BEGIN ")?;
    let (label, rest) = rest.split_once("-----")?;
    let (content, _) = rest.split_once("-----END ")?;
    let content: String = content.split_whitespace().collect();
    Some((label, STANDARD.decode(content).ok()?))
}

/// Writes a PEM block, in lines of 64 characters.
pub(crate) fn write(label: &str, content: &[u8]) -> String {
    let mut text = format!("-----BEGIN {label}-----\n");
    for (place, c) in STANDARD.encode(content).chars().enumerate() {
        if place > 0 && place % 64 == 0 {
            text.push('\n');
        }
        text.push(c);
    }
    text + &format!("\n-----END {label}-----\n")
}
