//! Excerpts of texts that were shown otherwise than they are.

use crate::{Change, Outcome, Piece, Report, Shown, Span};

/// Returns the report without excerpts of the parts in `shown`, whose runs count in another text.
pub(crate) fn without_excerpts_of(shown: &[Shown], mut report: Report) -> Report {
    let Outcome::Compacted(plan) = &mut report.outcome else {
        return report;
    };
    for piece in &mut plan.pieces {
        let Piece::Rewrite(rewrite) = piece else {
            continue;
        };
        let unit = rewrite.unit;
        rewrite.edits.retain(|edit| {
            let place = (unit, edit.message, edit.part);
            let is_shown = || {
                let of = |own: &Shown| (own.unit, own.message, own.part);
                shown.binary_search_by_key(&place, of).is_ok()
            };
            !matches!(edit.change, Change::Excerpt(_)) || !is_shown()
        });
        if rewrite.edits.is_empty() {
            *piece = Piece::Keep(Span {
                first: unit,
                count: 1,
            });
        }
    }
    report
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Edit, Plan, Rewrite};

    #[test]
    fn only_excerpts_of_what_was_shown_otherwise_are_left_out() {
        let edit = |part, change| Edit {
            message: 0,
            part,
            change,
        };
        let excerpt = || Change::Excerpt(Vec::new());
        let rewrite = |unit, edits: &[Edit]| {
            Piece::Rewrite(Rewrite {
                unit,
                edits: edits.to_vec(),
            })
        };
        let text = || edit(0, Change::Text("short".to_owned()));
        let report = |pieces| {
            Report::compacted(Plan {
                pieces,
                reasons: Vec::new(),
            })
        };
        let shown = |unit, part| Shown {
            unit,
            message: 0,
            part,
            text: String::new(),
        };
        let shown = [shown(1, 1), shown(2, 0), shown(3, 1)];
        let changed = without_excerpts_of(
            &shown,
            report(vec![
                rewrite(1, &[text(), edit(1, excerpt())]),
                rewrite(2, &[edit(0, excerpt())]),
                rewrite(3, &[edit(0, excerpt())]),
            ]),
        );
        let keep = Piece::Keep(Span { first: 2, count: 1 });
        let expected = vec![
            rewrite(1, &[text()]),
            keep,
            rewrite(3, &[edit(0, excerpt())]),
        ];
        assert_eq!(changed, report(expected));
    }
}
