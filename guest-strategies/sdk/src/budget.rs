use crate::{Situation, Unit, UnitKind};

impl Unit {
    /// Returns whether the unit must be in every plan.
    pub fn is_protected(&self) -> bool {
        self.traits.contains(crate::Traits::PROTECTED)
    }

    /// Returns the tokens that keeping this unit adds to [`Situation::overhead`]: 0 for instructions,
    /// because the overhead includes them.
    pub fn cost(&self) -> u64 {
        match self.kind {
            UnitKind::Instructions => 0,
            _ => u64::from(self.tokens),
        }
    }
}

impl Situation {
    /// Returns the tokens of a request with these units: the overhead plus the [cost](Unit::cost) of each.
    pub fn tokens_with<'a>(&self, units: impl IntoIterator<Item = &'a Unit>) -> u64 {
        u64::from(self.overhead) + units.into_iter().map(Unit::cost).sum::<u64>()
    }
}

/// What the limits of a [`Situation`] leave for further units and texts: tokens, bytes and media parts.
///
/// Each value may become negative through [`charge`](Self::charge) and [`spend`](Self::spend). Then the
/// request exceeds that limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FreeBudget {
    tokens: i64,
    bytes: i64,
    media: i64,
}

impl FreeBudget {
    /// Returns what is left of the limits after the overhead of the request.
    pub fn of(situation: &Situation) -> Self {
        let limit = |limit: Option<u32>| limit.map_or(i64::MAX / 2, i64::from);
        Self {
            tokens: i64::from(situation.budget) - i64::from(situation.overhead),
            bytes: limit(situation.max_bytes),
            media: limit(situation.max_media),
        }
    }

    /// Returns what is left after the overhead and all protected units. If the budget is below the floor,
    /// no further unit fits.
    pub fn after_protected(situation: &Situation, units: &[Unit]) -> Self {
        let mut room = Self::of(situation);
        for unit in units.iter().filter(|unit| unit.is_protected()) {
            room.charge(unit);
        }
        room
    }

    /// Returns the free tokens, 0 if the limit is exceeded.
    pub fn tokens(&self) -> u64 {
        self.tokens.max(0).unsigned_abs()
    }

    /// Returns the free bytes, 0 if the limit is exceeded. Without a limit, the number is so large that it
    /// never runs out.
    pub fn bytes(&self) -> u64 {
        self.bytes.max(0).unsigned_abs()
    }

    /// Returns whether no limit is exceeded.
    pub fn is_within_limits(&self) -> bool {
        self.tokens >= 0 && self.bytes >= 0 && self.media >= 0
    }

    /// Returns whether the unit fits, without charging it.
    pub fn fits(&self, unit: &Unit) -> bool {
        let mut rest = *self;
        rest.charge(unit);
        rest.is_within_limits()
    }

    /// Charges the unit if it fits. Returns whether it did.
    pub fn take(&mut self, unit: &Unit) -> bool {
        let fits = self.fits(unit);
        if fits {
            self.charge(unit);
        }
        fits
    }

    /// Charges the unit, whether it fits or not.
    pub fn charge(&mut self, unit: &Unit) {
        self.tokens -= i64::try_from(unit.cost()).unwrap_or(i64::MAX / 2);
        self.bytes -= i64::from(unit.bytes);
        self.media -= i64::from(unit.media);
    }

    /// Releases what the unit was charged with, if it is removed after all.
    pub fn release(&mut self, unit: &Unit) {
        self.tokens += i64::try_from(unit.cost()).unwrap_or(i64::MAX / 2);
        self.bytes += i64::from(unit.bytes);
        self.media += i64::from(unit.media);
    }

    /// Adds these tokens and bytes, for example when a text becomes shorter.
    pub fn gain(&mut self, tokens: u32, bytes: u32) {
        self.tokens += i64::from(tokens);
        self.bytes += i64::from(bytes);
    }

    /// Subtracts these tokens and bytes, the opposite of [`gain`](Self::gain).
    pub fn spend(&mut self, tokens: u32, bytes: u32) {
        self.tokens -= i64::from(tokens);
        self.bytes -= i64::from(bytes);
    }

    /// Returns whether an exceeded limit would be exceeded by less without this unit.
    pub fn is_helped_by_removing(&self, unit: &Unit) -> bool {
        (self.tokens < 0 && unit.cost() > 0)
            || (self.bytes < 0 && unit.bytes > 0)
            || (self.media < 0 && unit.media > 0)
    }
}

/// Returns the tokens of the note that the host inserts if the result would start with a message of the
/// model and the wire format does not allow that. Returns 0 if no note is needed.
///
/// `first` is the first kept unit after the instructions.
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
    fn tokens_with_counts_instructions_once() {
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
    fn free_budget_excludes_overhead_and_protected_units() {
        let recording = recording();
        let units = recording.units();
        let mut room = FreeBudget::after_protected(&recording.situation(100), &units);
        assert_eq!(room.tokens(), 20);
        assert!(room.take(&units[1]));
        assert!(!room.take(&units[1]));
        room.release(&units[1]);
        assert_eq!(room.tokens(), 20);
    }

    #[test]
    fn no_unit_fits_below_the_floor() {
        let recording = recording();
        let units = recording.units();
        let room = FreeBudget::after_protected(&recording.situation(60), &units);
        assert_eq!(room.tokens(), 0);
        assert!(!room.is_within_limits());
        assert!(!room.fits(&units[1]));
        assert!(room.is_helped_by_removing(&units[1]));
        assert!(!room.is_helped_by_removing(&units[0]));
    }

    #[test]
    fn unit_over_the_byte_limit_does_not_fit() {
        let recording = recording();
        let units = recording.units();
        let mut situation = recording.situation(1000);
        situation.max_bytes = Some(units[0].bytes + units[2].bytes);
        let room = FreeBudget::after_protected(&situation, &units);
        assert_eq!(room.bytes(), 0);
        assert!(!room.fits(&units[1]));
    }
}
