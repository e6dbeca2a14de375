//! `native:digest` (work in progress).

use crate::report::Report;
use crate::situation::Situation;

pub(crate) fn digest(situation: &Situation) -> Report {
    super::truncate(situation)
}
