//! Outputs that the model has not seen: those behind its last message. Whatever a strategy does,
//! each of them is there after a compaction with its call, whole or as the host shortened it.

use crate::reading::{Piece, PieceKind, Said, Who};

/// Characters to which the host may shorten such an output.
const SHORTEST: usize = 400;

/// What a shortened output begins with.
const SHORTENED: &str = "<baler:rewritten by=\"baler\"";

/// The share of the outputs that the model had not seen which are there with their calls; none
/// where there were none.
pub(crate) fn kept(before: &[Vec<Said>], after: &[Vec<Said>]) -> Option<f64> {
    let (calls, outputs) = newest(before);
    if outputs.is_empty() {
        return None;
    }
    let (calls_after, outputs_after) = newest(after);
    if calls != calls_after {
        return Some(0.0);
    }
    let is_there = |(old, new): &(&&Piece, &&Piece)| old == new || new.text.starts_with(SHORTENED);
    let kept = outputs.iter().zip(&outputs_after).filter(is_there).count();
    Some(kept as f64 / outputs.len() as f64)
}

/// The calls of the model's newest messages, and the outputs behind them.
fn newest(units: &[Vec<Said>]) -> (Vec<&Piece>, Vec<&Piece>) {
    let said: Vec<&Said> = units.iter().flatten().collect();
    let (seen, unseen) = said.split_at(answered(units));
    let calling = seen.rsplit(|said| said.who != Who::Assistant).next();
    (
        of_kind(calling.unwrap_or_default(), PieceKind::Call),
        of_kind(unseen, PieceKind::Output),
    )
}

fn of_kind<'a>(said: &[&'a Said], kind: PieceKind) -> Vec<&'a Piece> {
    let pieces = said.iter().flat_map(|said| &said.pieces);
    pieces.filter(|piece| piece.kind == kind).collect()
}

/// How many messages there are up to the model's last one, that one included.
fn answered(units: &[Vec<Said>]) -> usize {
    let said: Vec<&Said> = units.iter().flatten().collect();
    let last = said.iter().rposition(|said| said.who == Who::Assistant);
    last.map_or(0, |last| last + 1)
}

/// For each unit with such outputs its size with all of them at their shortest; none for others.
pub(crate) fn shortest(units: &[Vec<Said>]) -> Vec<Option<usize>> {
    let answered = answered(units);
    let mut at = 0;
    let mut sizes = Vec::with_capacity(units.len());
    for unit in units {
        let (mut size, mut is_unseen) = (0, false);
        for said in unit {
            if at < answered {
                size += said.size();
            } else {
                is_unseen |= said.pieces.iter().any(is_output);
                let pieces = said.pieces.iter();
                size += pieces.map(shortest_piece).sum::<usize>();
            }
            at += 1;
        }
        sizes.push(is_unseen.then_some(size));
    }
    sizes
}

fn is_output(piece: &Piece) -> bool {
    piece.kind == PieceKind::Output
}

fn shortest_piece(piece: &Piece) -> usize {
    match piece.kind {
        PieceKind::Output => piece.size.min(SHORTEST),
        _ => piece.size,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(output: &str) -> Vec<Said> {
        let call = r#"{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]}"#;
        let output = serde_json::json!({"role": "tool", "content": output}).to_string();
        [call, &output]
            .map(|raw| Said::read("openai-chat", raw))
            .into()
    }

    fn user() -> Vec<Said> {
        vec![Said::read(
            "openai-chat",
            r#"{"role": "user", "content": "a"}"#,
        )]
    }

    #[test]
    fn outputs_behind_the_last_words_of_the_model_are_there_with_their_calls() {
        let (old, new) = (step("old"), step(&"new ".repeat(200)));
        let before = [user(), old.clone(), new.clone()];
        let kept = |after: &[Vec<Said>]| kept(&before, after);
        assert_eq!(kept(&before), Some(1.0));
        assert_eq!(kept(&[user(), new.clone()]), Some(1.0));
        let shortened = step("<baler:rewritten by=\"baler\" seal=\"x\">\nnew\n</baler:rewritten>");
        assert_eq!(kept(&[user(), shortened]), Some(1.0));
        let by_another = step("<baler:rewritten by=\"theirs\">\nnew\n</baler:rewritten>");
        assert_eq!(kept(&[user(), by_another]), Some(0.0));
        assert_eq!(kept(&[user(), old.clone()]), Some(0.0));
        assert_eq!(kept(&[user()]), Some(0.0));
        assert_eq!(kept(&[user(), new[..1].to_vec()]), Some(0.0));
        // Where the model had the last word there is nothing that it has not seen.
        let answered = [user(), old, vec![new[0].clone()]];
        assert_eq!(super::kept(&answered, &[user()]), None);
    }

    #[test]
    fn only_outputs_that_the_model_has_not_seen_have_a_shortest_form() {
        let (old, new) = (step(&"old ".repeat(200)), step(&"new ".repeat(200)));
        let call = "f{}".len();
        let units = [user(), old, new];
        assert_eq!(shortest(&units), [None, None, Some(call + SHORTEST)]);
        assert_eq!(shortest(&units[..1]), [None]);
    }
}
