use crate::{
    Failure, Insertion, Metric, Outcome, Placement, Plan, PlanError, Purpose, Report, Role, Value,
};

impl Report {
    /// Reports a plan, for the host to check and apply.
    pub fn compacted(plan: Plan) -> Self {
        Self {
            outcome: Outcome::Compacted(plan),
            metrics: Vec::new(),
        }
    }

    /// Reports that the conversation should stay as it is. `reason` is a text for people.
    pub fn unchanged(reason: impl Into<String>) -> Self {
        Self {
            outcome: Outcome::Unchanged(reason.into()),
            metrics: Vec::new(),
        }
    }

    /// Adds a metric. Its name must be in [`Strategy::METRIC_NAMES`](crate::Strategy::METRIC_NAMES). If a
    /// name is added twice, the host shows the first value.
    #[must_use]
    pub fn with_metric(mut self, name: &str, value: Value) -> Self {
        self.metrics.push(Metric {
            name: name.to_owned(),
            value,
        });
        self
    }

    /// Adds a metric that is a count, at most `u32::MAX`.
    #[must_use]
    pub fn with_count(self, name: &str, count: u64) -> Self {
        self.with_metric(name, Value::Count(u32::try_from(count).unwrap_or(u32::MAX)))
    }
}

impl Insertion {
    /// Returns a summary: a text that replaces removed units, as a separate message with the user role.
    pub fn summary(text: impl Into<String>) -> Self {
        Self {
            role: Role::User,
            purpose: Purpose::Summary,
            placement: Placement::Alone,
            text: text.into(),
        }
    }

    /// Returns a note: a text that informs the model, as a separate message with the user role.
    pub fn note(text: impl Into<String>) -> Self {
        Self {
            purpose: Purpose::Note,
            ..Self::summary(text)
        }
    }

    /// Returns the insertion with another placement: joined to the message before or after it.
    #[must_use]
    pub fn placed(self, placement: Placement) -> Self {
        Self { placement, ..self }
    }
}

impl From<PlanError> for Failure {
    fn from(error: PlanError) -> Self {
        Self::Other(error.to_string())
    }
}
