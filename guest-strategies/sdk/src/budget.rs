use crate::{Situation, Unit, UnitKind};

impl Unit {
    /// Whether a plan must hold this unit.
    pub fn is_protected(&self) -> bool {
        self.traits.contains(crate::Traits::PROTECTED)
    }

    /// What keeping this unit adds to [`Situation::overhead`]: its tokens, or nothing for
    /// instructions, which the overhead holds already.
    pub fn cost(&self) -> u64 {
        match self.kind {
            UnitKind::Instructions => 0,
            _ => u64::from(self.tokens),
        }
    }
}

impl Situation {
    /// Tokens of a request that holds these units: the overhead and what each adds to it.
    pub fn tokens_with<'a>(&self, units: impl IntoIterator<Item = &'a Unit>) -> u64 {
        u64::from(self.overhead) + units.into_iter().map(Unit::cost).sum::<u64>()
    }
}

/// What is still free under the limits of a [`Situation`]: tokens, bytes and media.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    tokens: i64,
    bytes: i64,
    media: i64,
}

impl Room {
    /// The room of a request that has its overhead and nothing else.
    pub fn of(situation: &Situation) -> Self {
        let limit = |limit: Option<u32>| limit.map_or(i64::MAX / 2, i64::from);
        Self {
            tokens: i64::from(situation.budget) - i64::from(situation.overhead),
            bytes: limit(situation.max_bytes),
            media: limit(situation.max_media),
        }
    }

    /// The room for what a strategy is free to keep: that of [`of`](Self::of) without the
    /// protected units. Where the budget is below the floor, nothing fits.
    pub fn beside_protected(situation: &Situation, units: &[Unit]) -> Self {
        let mut room = Self::of(situation);
        for unit in units.iter().filter(|unit| unit.is_protected()) {
            room.charge(unit);
        }
        room
    }

    /// Free tokens, 0 where there are too many already.
    pub fn tokens(&self) -> u64 {
        self.tokens.max(0).unsigned_abs()
    }

    /// Free bytes, 0 where there are too many already. Without a limit there is no end of them.
    pub fn bytes(&self) -> u64 {
        self.bytes.max(0).unsigned_abs()
    }

    /// Whether no limit is exceeded.
    pub fn is_kept(&self) -> bool {
        self.tokens >= 0 && self.bytes >= 0 && self.media >= 0
    }

    /// Whether the unit fits.
    pub fn holds(&self, unit: &Unit) -> bool {
        let mut rest = *self;
        rest.charge(unit);
        rest.is_kept()
    }

    /// Takes the room of the unit if it fits, and says whether it did.
    pub fn take(&mut self, unit: &Unit) -> bool {
        let fits = self.holds(unit);
        if fits {
            self.charge(unit);
        }
        fits
    }

    /// Takes the room of the unit, whether it fits or not.
    pub fn charge(&mut self, unit: &Unit) {
        self.tokens -= i64::try_from(unit.cost()).unwrap_or(i64::MAX / 2);
        self.bytes -= i64::from(unit.bytes);
        self.media -= i64::from(unit.media);
    }

    /// Gives the room of the unit back, for one that is dropped after all.
    pub fn release(&mut self, unit: &Unit) {
        self.tokens += i64::try_from(unit.cost()).unwrap_or(i64::MAX / 2);
        self.bytes += i64::from(unit.bytes);
        self.media += i64::from(unit.media);
    }

    /// Gives these tokens and bytes back, for a text that became shorter.
    pub fn gain(&mut self, tokens: u32, bytes: u32) {
        self.tokens += i64::from(tokens);
        self.bytes += i64::from(bytes);
    }

    /// Takes these tokens and bytes, the opposite of [`gain`](Self::gain).
    pub fn spend(&mut self, tokens: u32, bytes: u32) {
        self.tokens -= i64::from(tokens);
        self.bytes -= i64::from(bytes);
    }

    /// Whether without this unit an exceeded limit would be exceeded by less.
    pub fn is_helped_by_dropping(&self, unit: &Unit) -> bool {
        (self.tokens < 0 && unit.cost() > 0)
            || (self.bytes < 0 && unit.bytes > 0)
            || (self.media < 0 && unit.media > 0)
    }
}

/// Tokens of the note that the host puts first where the wire format refuses a conversation
/// that starts with the model; 0 where it does not. `first` is the first kept unit that is not
/// of instructions.
pub fn opening_note(situation: &Situation, first: Option<&Unit>) -> u64 {
    match first.map(|unit| unit.kind) {
        Some(UnitKind::Step | UnitKind::Other) => u64::from(situation.opening_note),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Recording;
    use crate::{Conversation, Source};

    fn recording() -> Recording {
        Recording::new()
            .system("be brief")
            .tokens(50)
            .user("old")
            .tokens(20)
            .user("new")
            .tokens(30)
    }

    #[test]
    fn instructions_are_counted_once() {
        let recording = recording();
        let situation = recording.situation(1000);
        assert_eq!(situation.overhead, 50);
        assert_eq!(
            situation.tokens_with(Conversation::new(&recording).units()),
            100
        );
        assert_eq!(u64::from(situation.used), 100);
        assert_eq!(situation.floor, 80);
    }

    #[test]
    fn room_is_the_budget_without_overhead_and_protected_units() {
        let recording = recording();
        let units = recording.units();
        let mut room = Room::beside_protected(&recording.situation(100), &units);
        assert_eq!(room.tokens(), 20);
        assert!(room.take(&units[1]));
        assert!(!room.take(&units[1]));
        room.release(&units[1]);
        assert_eq!(room.tokens(), 20);
    }

    #[test]
    fn below_the_floor_nothing_fits() {
        let recording = recording();
        let units = recording.units();
        let room = Room::beside_protected(&recording.situation(60), &units);
        assert_eq!(room.tokens(), 0);
        assert!(!room.is_kept());
        assert!(!room.holds(&units[1]));
        assert!(room.is_helped_by_dropping(&units[1]));
        assert!(!room.is_helped_by_dropping(&units[0]));
    }

    #[test]
    fn bytes_and_media_are_limits_too() {
        let recording = recording();
        let units = recording.units();
        let mut situation = recording.situation(1000);
        situation.max_bytes = Some(units[0].bytes + units[2].bytes);
        let room = Room::beside_protected(&situation, &units);
        assert_eq!(room.bytes(), 0);
        assert!(!room.holds(&units[1]));
    }
}
