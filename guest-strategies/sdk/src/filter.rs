//! Filters before a strategy.

mod introspection;
mod whole;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::{
    Conversation, Decision, Failure, Introspection, Limits, Report, Shown, Situation, config,
};

/// A filter before a strategy: it decides which texts the strategy behind it reads, and may change the strategy's plan.
///
/// `baler compose FILTER.wasm STRATEGY.wasm -o BOTH.wasm` makes one component of both. The strategy behind can be any,
/// also one that is composed itself. Its figures are those of the conversation, and its plan is for the
/// conversation: only texts differ.
///
/// The config of the composed strategy is that of the strategy behind, and the filter's own in a member with its name:
/// `{"redact": {"words": ["Quayside"]}, "keep": "budget"}`.
///
/// ```
/// use baler_strategy::{Content, Conversation, NoConfig, Shown, Filter};
///
/// /// Shows each tool output without the bars that its program drew.
/// struct NoBars;
///
/// impl Filter for NoBars {
///     type Config = NoConfig;
///     const NAME: &'static str = "no-bars";
///     const VERSION: &'static str = "0.1.0";
///     const DESCRIPTION: &'static str = "Leaves out progress bars.";
///
///     fn show(conversation: &Conversation<'_>, _: &NoConfig) -> Vec<Shown> {
///         let mut shown = Vec::new();
///         for (unit, messages) in conversation.read(0..conversation.units().len()) {
///             for (message, own) in messages.iter().enumerate() {
///                 for (part, own) in own.parts.iter().enumerate() {
///                     let Content::Output(output) = &own.content else { continue };
///                     if output.text.contains('█') {
///                         let [unit, message, part] = [unit, message, part].map(|n| n as u32);
///                         let text = output.text.replace('█', "");
///                         shown.push(Shown { unit, message, part, text });
///                     }
///                 }
///             }
///         }
///         shown
///     }
/// }
///
/// baler_strategy::export_filter!(NoBars);
/// ```
///
/// In tests, [`testing::run_filter`](crate::testing::run_filter) runs it before a strategy.
pub trait Filter {
    /// The filter's own config, as [`Strategy::Config`](crate::Strategy::Config).
    type Config: DeserializeOwned + Default;

    /// The name of the filter: short, in kebab-case.
    const NAME: &'static str;
    /// The version of the filter, in semantic versioning.
    const VERSION: &'static str;
    /// What the filter does, in one sentence.
    const DESCRIPTION: &'static str;
    /// The JSON Schema of the filter's own config, without references. Empty if it has none.
    const CONFIG_SCHEMA: &'static str = "";
    /// The reason codes that the filter adds to plans.
    const REASON_CODES: &'static [&'static str] = &[];
    /// The names of the metrics that the filter adds to reports.
    const METRIC_NAMES: &'static [&'static str] = &[];
    /// What the filter needs in addition to a limit that the strategy behind asks for.
    const LIMITS: Limits = Limits::OF_THE_HOST;

    /// Checks what the type [`Config`](Self::Config) cannot express.
    ///
    /// # Errors
    /// Returns a message for people that names the field, the allowed values and the value found.
    fn check(_config: &Self::Config) -> Result<(), String> {
        Ok(())
    }

    /// Returns the texts that the strategy behind reads instead of the conversation's, in order of unit, message and
    /// part. It reads all others as they are.
    fn show(conversation: &Conversation<'_>, config: &Self::Config) -> Vec<Shown>;

    /// Returns the situation that the strategy behind gets. By default that of the filter.
    fn situation(situation: &Situation, _config: &Self::Config) -> Situation {
        situation.clone()
    }

    /// Returns the report for the host, made of that of the strategy behind, which read `shown`.
    ///
    /// Runs of an [excerpt](crate::Change::Excerpt) count in the text that was read. By default, parts that were shown otherwise
    /// than they are stay whole instead, and all else of the report stays as it is.
    ///
    /// # Errors
    /// Returns a declared failure if there is no plan that the filter can answer for.
    fn revise(
        _conversation: &Conversation<'_>,
        _situation: &Situation,
        _config: &Self::Config,
        shown: &[Shown],
        report: Report,
    ) -> Result<Report, Failure> {
        Ok(whole::without_excerpts_of(shown, report))
    }
}

/// The strategy behind a filter: the imported one, or that of a test.
pub(crate) trait Behind {
    fn introspect(&self, config: Option<&str>) -> Result<Introspection, Failure>;
    fn show(&self, texts: &[Shown]);
    fn should_compact(&self, situation: &Situation, config: &str) -> Result<Decision, Failure>;
    fn compact(&self, situation: &Situation, config: &str) -> Result<Report, Failure>;
}

pub(crate) fn introspect<S: Filter>(
    behind: &dyn Behind,
    config: Option<&str>,
) -> Result<Introspection, Failure> {
    let rest = config.map(split::<S>).transpose()?.map(|(_, rest)| rest);
    introspection::joined::<S>(behind.introspect(rest.as_deref())?)
}

pub(crate) fn should_compact<S: Filter>(
    behind: &dyn Behind,
    conversation: &Conversation<'_>,
    situation: &Situation,
    config: &str,
) -> Result<Decision, Failure> {
    let (own, rest) = split::<S>(config)?;
    behind.show(&S::show(conversation, &own));
    behind.should_compact(&S::situation(situation, &own), &rest)
}

pub(crate) fn compact<S: Filter>(
    behind: &dyn Behind,
    conversation: &Conversation<'_>,
    situation: &Situation,
    config: &str,
) -> Result<Report, Failure> {
    let (own, rest) = split::<S>(config)?;
    let shown = S::show(conversation, &own);
    behind.show(&shown);
    let report = behind.compact(&S::situation(situation, &own), &rest)?;
    S::revise(conversation, situation, &own, &shown, report)
}

/// Returns the filter's own config, and that of the strategy behind.
fn split<S: Filter>(text: &str) -> Result<(S::Config, String), Failure> {
    let (own, rest) = parts(text, S::NAME)?;
    let own = config::parse_with(&own, S::check).map_err(|failure| match failure {
        Failure::BadConfig(what) => Failure::BadConfig(format!("in `{}`: {what}", S::NAME)),
        other => other,
    })?;
    Ok((own, rest))
}

/// Splits a config into the member `name` and the rest. What is no object is for the strategy behind to refuse.
fn parts(text: &str, name: &str) -> Result<(String, String), Failure> {
    let Ok(mut members) = serde_json::from_str::<Map<String, Value>>(text) else {
        return Ok((String::new(), text.to_owned()));
    };
    let Some(own) = members.remove(name) else {
        return Ok((String::new(), text.to_owned()));
    };
    if !own.is_object() {
        return Err(Failure::BadConfig(format!(
            "`{name}`: expected an object, found `{own}`"
        )));
    }
    let rest = match members.is_empty() {
        true => String::new(),
        false => Value::Object(members).to_string(),
    };
    Ok((own.to_string(), rest))
}

#[cfg(test)]
mod tests {
    use super::parts;

    #[test]
    fn a_config_is_split_into_that_of_the_filter_and_that_of_the_strategy_behind() {
        for (text, own, rest) in [
            ("", "", ""),
            ("{}", "", "{}"),
            (r#"{"keep": 3}"#, "", r#"{"keep": 3}"#),
            (r#"{"filter": {"a": 1}}"#, r#"{"a":1}"#, ""),
            (r#"{"keep": 3, "filter": {}}"#, "{}", r#"{"keep":3}"#),
            ("[5]", "", "[5]"),
            (r#"{"filter": "#, "", r#"{"filter": "#),
        ] {
            let split = parts(text, "filter").expect("is split");
            assert_eq!(split, (own.to_owned(), rest.to_owned()), "{text}");
        }
        assert!(parts(r#"{"filter": 5}"#, "filter").is_err());
    }
}
