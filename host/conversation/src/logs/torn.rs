//! Lines of which a program lost the break, or that it left unfinished and went on in later.

use serde_json::value::RawValue;

/// The most places of a torn line at which an object may begin behind it.
const PLACES: usize = 16;

/// What stands behind the JSON value at the start of a piece; `None` if none is there.
pub(super) fn value_behind(piece: &str) -> Option<&str> {
    let mut values = serde_json::Deserializer::from_str(piece).into_iter::<&RawValue>();
    values.next()?.ok()?;
    Some(piece[values.byte_offset()..].trim())
}

/// The objects at the end of a piece that begins with a torn one: the program was stopped in the middle of a
/// line, and went on in it later. Nothing if there are none.
///
/// The torn text, number or word ends where an object begins behind it, and there the parser fails. Of a line that
/// is broken in another way, no rest is an object to its end: what is around it still has to be closed. Or the object
/// passes for a value of the torn one, whose end is then missing; it is known by its first key, which it shares
/// with the torn one.
pub(super) fn objects_behind_tear<'a>(piece: &'a str, error: &serde_json::Error) -> &'a str {
    let candidates: Vec<usize> = if error.is_eof() {
        let first_key = piece.split(':').next().unwrap_or(piece);
        let starts = piece.match_indices(first_key).map(|(start, _)| start);
        starts.skip(1).take(PLACES).collect()
    } else {
        // The parser may have taken the first quotation mark of the object for the end of a text.
        let near = error.column().saturating_sub(3).min(piece.len());
        let near = piece.floor_char_boundary(near);
        let starts = piece[near..].match_indices("{\"");
        starts.map(|(start, _)| near + start).take(2).collect()
    };
    candidates
        .into_iter()
        .filter(|start| *start > 0)
        .map(|start| &piece[start..])
        .find(|rest| is_objects(rest))
        .unwrap_or_default()
}

/// Whether a text is whole objects, one behind the other.
fn is_objects(text: &str) -> bool {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
    values.all(|value| value.is_ok_and(|value| value.get().starts_with('{')))
}
