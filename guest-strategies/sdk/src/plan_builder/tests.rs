use super::*;

fn keep(first: u32, count: u32) -> Piece {
    Piece::Keep(Span { first, count })
}

#[test]
fn build_joins_adjacent_kept_units_given_in_any_order() {
    let mut builder = PlanBuilder::removing_all(9);
    builder.keep(5).keep(0).keep(4).keep_range(1..3);
    assert_eq!(
        builder.build().map(|plan| plan.pieces),
        Ok(vec![keep(0, 3), keep(4, 2)])
    );
}

#[test]
fn build_sorts_rewrites_and_insertions_between_spans() {
    let mut builder = PlanBuilder::keeping_all(4);
    builder
        .rewrite(1)
        .text(2, 0, "b")
        .remove(0, 1)
        .text(2, 0, "c");
    builder
        .insert(4, Insertion::note("end"))
        .insert(3, Insertion::note("middle"));
    let edit = |message, part, change| Edit {
        message,
        part,
        change,
    };
    assert_eq!(
        builder.build().map(|plan| plan.pieces),
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
fn later_call_for_a_unit_replaces_an_earlier_one() {
    let mut builder = PlanBuilder::removing_all(3);
    builder.rewrite(0).text(0, 0, "short");
    builder.rewrite(1).text(0, 0, "short");
    builder.keep(0).remove(1).keep(2);
    assert_eq!(
        builder.build().map(|plan| plan.pieces),
        Ok(vec![keep(0, 1), keep(2, 1)])
    );
}

#[test]
fn rewrite_without_edits_keeps_the_unit() {
    let mut builder = PlanBuilder::removing_all(1);
    builder.rewrite(0);
    assert_eq!(
        builder.build().map(|plan| plan.pieces),
        Ok(vec![keep(0, 1)])
    );
}

#[test]
fn reason_joins_adjacent_units_with_the_same_code() {
    let mut builder = PlanBuilder::keeping_all(4);
    builder
        .reason(0..1, "a")
        .reason(1..3, "a")
        .reason(3..4, "b");
    let spans: Vec<_> = builder
        .build()
        .map(|plan| plan.reasons)
        .unwrap_or_default()
        .into_iter()
        .map(|reason| (reason.units.first, reason.units.count, reason.code))
        .collect();
    assert_eq!(spans, [(0, 3, "a".to_owned()), (3, 1, "b".to_owned())]);
}

#[test]
fn build_rejects_a_unit_that_does_not_exist() {
    let error = Err(PlanError::NoSuchUnit { unit: 3, units: 3 });
    let mut builder = PlanBuilder::keeping_all(3);
    builder.keep(3);
    assert_eq!(builder.build(), error);
    let mut builder = PlanBuilder::keeping_all(3);
    builder.rewrite(3).text(0, 0, "x");
    assert_eq!(builder.build(), error);
    let mut builder = PlanBuilder::keeping_all(3);
    builder.reason(1..4, "a");
    assert_eq!(builder.build(), error);
}

#[test]
fn build_rejects_an_empty_plan() {
    assert_eq!(PlanBuilder::removing_all(3).build(), Err(PlanError::Empty));
}
