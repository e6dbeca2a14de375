//! Returns a role that the contract does not have.
//!
//! The answer is malformed.

use core::hint::black_box;

use hostile_guests::{
    Failure, Hostile, Placement, Report, Role, Situation, compacted, hostile, insert,
};

struct VariantUnknown;

impl Hostile for VariantUnknown {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        // SAFETY: it is not; that is the attack.
        let role: Role = unsafe { core::mem::transmute(black_box(0x7fu8)) };
        compacted(vec![insert(
            role,
            Placement::Alone,
            String::from("who says so?"),
        )])
    }
}

hostile!(VariantUnknown);
