use crate::{
    DraftError, Failure, Insertion, Metric, Outcome, Placement, Plan, Purpose, Report, Role, Value,
};

impl Report {
    /// The plan is to be carried out.
    pub fn compacted(plan: Plan) -> Self {
        Self {
            outcome: Outcome::Compacted(plan),
            metrics: Vec::new(),
        }
    }

    /// Nothing should be done, and why.
    pub fn unchanged(reason: impl Into<String>) -> Self {
        Self {
            outcome: Outcome::Unchanged(reason.into()),
            metrics: Vec::new(),
        }
    }

    /// Adds a metric. The strategy declares its name; of metrics of one name the first is shown.
    #[must_use]
    pub fn with_metric(mut self, name: &str, value: Value) -> Self {
        self.metrics.push(Metric {
            name: name.to_owned(),
            value,
        });
        self
    }

    /// Adds a metric that counts something.
    #[must_use]
    pub fn with_count(self, name: &str, count: u64) -> Self {
        self.with_metric(name, Value::Count(u32::try_from(count).unwrap_or(u32::MAX)))
    }
}

impl Insertion {
    /// A text under the user role that stands for what was dropped, as a message of its own.
    pub fn summary(text: impl Into<String>) -> Self {
        Self {
            role: Role::User,
            purpose: Purpose::Summary,
            placement: Placement::Alone,
            text: text.into(),
        }
    }

    /// A text under the user role that the model should know, as a message of its own.
    pub fn note(text: impl Into<String>) -> Self {
        Self {
            purpose: Purpose::Note,
            ..Self::summary(text)
        }
    }

    /// The same with another placement.
    #[must_use]
    pub fn placed(self, placement: Placement) -> Self {
        Self { placement, ..self }
    }
}

impl From<DraftError> for Failure {
    fn from(error: DraftError) -> Self {
        Self::Other(error.to_string())
    }
}
