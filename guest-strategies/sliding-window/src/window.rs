//! The decision, from figures alone.

use baler_strategy::{Room, Situation, Unit, UnitKind, opening_note};

use crate::Keep;

/// Where a unit ends up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// in the window
    Window,
    /// kept beside it
    Aside,
    /// dropped
    Dropped,
}

/// What came of the choice.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Window {
    /// The place of each unit.
    Of(Vec<Place>),
    /// Nothing would be dropped.
    Everything,
    /// Nothing would be kept.
    Nothing,
}

/// Chooses the place of each unit. The result stays within the budget, or at the floor where
/// the budget is below it.
pub(crate) fn choose(units: &[Unit], situation: &Situation, keep: Keep) -> Window {
    let mut room = Room::of(situation);
    let mut has_summary = false;
    let mut places: Vec<Place> = units
        .iter()
        .map(|unit| {
            if unit.is_protected() {
                room.charge(unit);
                return Place::Aside;
            }
            has_summary |= is_summary(unit);
            Place::Dropped
        })
        .collect();
    // A summary stands for much more than it costs, so it comes before the window.
    let summaries = units.iter().zip(&mut places).rev();
    for (unit, place) in summaries.take(if has_summary { units.len() } else { 0 }) {
        if is_summary(unit) && *place == Place::Dropped && room.take(unit) {
            *place = Place::Aside;
        }
    }
    let mut used = 0;
    for (unit, place) in units.iter().zip(&mut places).rev() {
        if *place == Place::Aside || is_summary(unit) {
            continue;
        }
        let (limit, share) = keep.measure(unit.messages, unit.tokens);
        used += share;
        if used > limit || !room.take(unit) {
            break;
        }
        *place = Place::Window;
    }
    if !places.contains(&Place::Dropped) {
        return Window::Everything;
    }
    shorten_for_the_note(units, situation, &mut places, &mut room);
    if places.iter().all(|place| *place == Place::Dropped) {
        return Window::Nothing;
    }
    Window::Of(places)
}

/// Where the result would start with the model, the host may put a note first. Drops the
/// oldest of the window until there is room for it, or no need.
fn shorten_for_the_note(
    units: &[Unit],
    situation: &Situation,
    places: &mut [Place],
    room: &mut Room,
) {
    for index in 0..units.len() {
        let unit = &units[index];
        if places[index] == Place::Dropped || unit.kind == UnitKind::Instructions {
            continue;
        }
        if places[index] == Place::Aside || opening_note(situation, Some(unit)) <= room.tokens() {
            return;
        }
        places[index] = Place::Dropped;
        room.release(unit);
    }
}

fn is_summary(unit: &Unit) -> bool {
    unit.kind == UnitKind::Summary
}
