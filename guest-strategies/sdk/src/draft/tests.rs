use super::*;

fn keep(first: u32, count: u32) -> Piece {
    Piece::Keep(Span { first, count })
}

#[test]
fn neighbours_become_one_span_in_whatever_order_they_come() {
    let mut draft = Draft::dropping(9);
    draft.keep(5).keep(0).keep(4).keep_range(1..3);
    assert_eq!(
        draft.build().map(|plan| plan.pieces),
        Ok(vec![keep(0, 3), keep(4, 2)])
    );
}

#[test]
fn rewrites_and_insertions_part_spans_and_stand_in_order() {
    let mut draft = Draft::keeping(4);
    draft
        .rewrite(1)
        .text(2, 0, "b")
        .remove(0, 1)
        .text(2, 0, "c");
    draft
        .insert(4, Insertion::note("end"))
        .insert(3, Insertion::note("middle"));
    let edit = |message, part, change| Edit {
        message,
        part,
        change,
    };
    assert_eq!(
        draft.build().map(|plan| plan.pieces),
        Ok(vec![
            keep(0, 1),
            Piece::Rewrite(Rewrite {
                unit: 1,
                edits: vec![
                    edit(0, 1, Change::Remove),
                    edit(2, 0, Change::Text("c".to_owned())),
                ],
            }),
            keep(2, 1),
            Piece::Insert(Insertion::note("middle")),
            keep(3, 1),
            Piece::Insert(Insertion::note("end")),
        ])
    );
}

#[test]
fn what_is_said_last_of_a_unit_counts() {
    let mut draft = Draft::dropping(3);
    draft.rewrite(0).text(0, 0, "short");
    draft.rewrite(1).text(0, 0, "short");
    draft.keep(0).drop(1).keep(2);
    assert_eq!(
        draft.build().map(|plan| plan.pieces),
        Ok(vec![keep(0, 1), keep(2, 1)])
    );
}

#[test]
fn a_rewrite_without_a_change_keeps_the_unit() {
    let mut draft = Draft::dropping(1);
    draft.rewrite(0);
    assert_eq!(draft.build().map(|plan| plan.pieces), Ok(vec![keep(0, 1)]));
}

#[test]
fn reasons_of_neighbours_become_one() {
    let mut draft = Draft::keeping(4);
    draft.reason(0..1, "a").reason(1..3, "a").reason(3..4, "b");
    let spans: Vec<_> = draft
        .build()
        .map(|plan| plan.reasons)
        .unwrap_or_default()
        .into_iter()
        .map(|reason| (reason.units.first, reason.units.count, reason.code))
        .collect();
    assert_eq!(spans, [(0, 3, "a".to_owned()), (3, 1, "b".to_owned())]);
}

#[test]
fn a_unit_that_is_not_there_is_an_error() {
    let error = Err(DraftError::NoSuchUnit { unit: 3, units: 3 });
    let mut draft = Draft::keeping(3);
    draft.keep(3);
    assert_eq!(draft.build(), error);
    let mut draft = Draft::keeping(3);
    draft.rewrite(3).text(0, 0, "x");
    assert_eq!(draft.build(), error);
    let mut draft = Draft::keeping(3);
    draft.reason(1..4, "a");
    assert_eq!(draft.build(), error);
}

#[test]
fn an_empty_plan_is_an_error() {
    assert_eq!(Draft::dropping(3).build(), Err(DraftError::Empty));
}
