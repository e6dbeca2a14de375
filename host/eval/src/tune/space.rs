//! Configs out of a JSON Schema.

use serde_json::{Map, Value, json};

/// Values of a number beside its default: these multiples of it.
const MULTIPLES: [f64; 4] = [0.25, 0.5, 2.0, 4.0];

/// Values of a number without a default, evenly between its bounds.
const STEPS: usize = 5;

/// Bounds of a number are far apart from this ratio on.
const WIDE: f64 = 1_000.0;

/// What can be searched of a schema.
///
/// ```
/// let schema = serde_json::json!({"properties": {"keep": {"type": "integer", "minimum": 1, "default": 4}}});
/// let space = baler_eval::Space::of(&schema);
/// assert_eq!(space.size(), 5);
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Space {
    /// Members with their values, the default first.
    members: Vec<(String, Vec<Value>)>,
    /// Members whose values the schema does not limit to a few, such as texts and lists.
    pub left_out: Vec<String>,
}

impl Space {
    /// Reads the properties of a schema: enumerations, booleans, numbers with a default or with two bounds, and
    /// alternatives and objects of these.
    #[must_use]
    pub fn of(schema: &Value) -> Self {
        let mut space = Self::default();
        let properties = schema["properties"].as_object().into_iter().flatten();
        for (name, property) in properties {
            let values = values_of(property);
            if values.len() > 1 {
                space.members.push((name.clone(), values));
            } else {
                space.left_out.push(name.clone());
            }
        }
        space
    }

    /// Returns the number of different configs.
    #[must_use]
    pub fn size(&self) -> usize {
        let sizes = self.members.iter().map(|(_, values)| values.len());
        sizes.fold(1, usize::saturating_mul)
    }

    /// Returns the config with this number, from 0, which is the default.
    fn config(&self, mut number: usize) -> Value {
        let mut config = Map::new();
        for (name, values) in &self.members {
            let value = number % values.len();
            number /= values.len();
            if value > 0
                && let Some(value) = values.get(value)
            {
                config.insert(name.clone(), value.clone());
            }
        }
        Value::Object(config)
    }
}

/// Returns at most `most` different configs of a space: the default first, then those that differ from it in one
/// member, and then others, spread over the space, the same in each run.
#[must_use]
pub fn configs(space: &Space, most: usize) -> Vec<Value> {
    let size = space.size();
    let mut found = vec![json!({})];
    let mut add = |config: Value| {
        if found.len() < most && !found.contains(&config) {
            found.push(config);
        }
    };
    for (name, values) in &space.members {
        for value in values.iter().skip(1) {
            add(json!({name: value}));
        }
    }
    if size <= most {
        (0..size).for_each(|number| add(space.config(number)));
    } else {
        // Multiples of a large odd number, modulo the size, come by all of the space.
        let mut number = 0_usize;
        for _ in 0..most.saturating_mul(4) {
            number = number.wrapping_add(0x9e37_79b9_7f4a_7c15) % size;
            add(space.config(number));
        }
    }
    found
}

/// Returns the values of a property that are tried, the default first. One or none if it cannot be searched.
fn values_of(property: &Value) -> Vec<Value> {
    let mut values: Vec<Value> = property.get("default").cloned().into_iter().collect();
    for value in allowed(property) {
        if !values.contains(&value) {
            values.push(value);
        }
    }
    values
}

/// Returns a few values that a schema allows.
fn allowed(schema: &Value) -> Vec<Value> {
    if let Some(value) = schema.get("const") {
        return vec![value.clone()];
    }
    let alternatives = ["oneOf", "anyOf"]
        .iter()
        .find_map(|name| schema[name].as_array());
    if let Some(alternatives) = alternatives {
        return alternatives.iter().flat_map(values_of).collect();
    }
    match schema["type"].as_str() {
        _ if schema["enum"].is_array() => schema["enum"].as_array().cloned().unwrap_or_default(),
        Some("boolean") => vec![json!(false), json!(true)],
        Some("integer") => numbers(schema, true),
        Some("number") => numbers(schema, false),
        Some("object") => objects(schema),
        _ => Vec::new(),
    }
}

/// Returns objects that differ in one member at a time from the one with the first value of each.
fn objects(schema: &Value) -> Vec<Value> {
    let properties = schema["properties"].as_object().into_iter().flatten();
    let members: Vec<(&String, Vec<Value>)> = properties
        .map(|(name, property)| (name, values_of(property)))
        .collect();
    if members.is_empty() || members.iter().any(|(_, values)| values.is_empty()) {
        return Vec::new();
    }
    let first: Map<String, Value> = members
        .iter()
        .filter_map(|(name, values)| Some(((*name).clone(), values.first()?.clone())))
        .collect();
    let mut found = vec![Value::Object(first.clone())];
    for (name, values) in &members {
        for value in values.iter().skip(1) {
            let mut object = first.clone();
            object.insert((*name).clone(), value.clone());
            found.push(Value::Object(object));
        }
    }
    found
}

fn numbers(property: &Value, is_integer: bool) -> Vec<Value> {
    let bound = |inclusive: &str, exclusive: &str| {
        let bound = property[inclusive].as_f64();
        bound.or_else(|| property[exclusive].as_f64())
    };
    let low = bound("minimum", "exclusiveMinimum");
    let high = bound("maximum", "exclusiveMaximum");
    let is_open = |value: &f64| {
        property["exclusiveMinimum"].as_f64() == Some(*value)
            || property["exclusiveMaximum"].as_f64() == Some(*value)
    };
    let found: Vec<f64> = match (property["default"].as_f64(), low, high) {
        (Some(default), ..) if default != 0.0 => MULTIPLES.map(|times| default * times).into(),
        (Some(_), _, _) => vec![1.0, 2.0, 4.0],
        // Over orders of magnitude, even steps would all be large.
        (None, Some(low), Some(high)) if high > WIDE * low.max(1.0) => [1.0, 4.0, 16.0, 64.0]
            .map(|times| low.max(1.0) * times)
            .into(),
        (None, Some(low), Some(high)) => {
            let step = (high - low) / (STEPS - 1) as f64;
            let steps = (0..STEPS).map(|number| low + step * number as f64);
            steps.collect()
        }
        _ => Vec::new(),
    };
    let (low, high) = (low.unwrap_or(f64::MIN), high.unwrap_or(f64::MAX));
    let mut values: Vec<Value> = Vec::new();
    for value in found {
        let value = if is_integer { value.round() } else { value };
        if value < low || value > high || is_open(&value) {
            continue;
        }
        let value = match is_integer {
            true => json!(value as i64),
            false => json!(value),
        };
        if !values.contains(&value) {
            values.push(value);
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema() -> Value {
        json!({"type": "object", "properties": {
            "keep": {"type": "integer", "minimum": 2, "maximum": 20, "default": 4},
            "share": {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
            "work": {"enum": ["auto", "coding"], "default": "auto"},
            "greet": {"type": "boolean", "default": true},
            "note": {"type": "string"},
            "window": {"default": "budget", "oneOf": [
                {"const": "budget"},
                {"type": "object", "properties": {"units": {"type": "integer", "minimum": 1, "maximum": 4_294_967_295_u32}}}
            ]},
        }})
    }

    #[test]
    fn a_space_has_the_values_that_a_schema_allows() {
        let space = Space::of(&schema());
        assert_eq!(space.left_out, ["note"]);
        let values = |name: &str| {
            let member = space.members.iter().find(|(known, _)| known == name);
            member.map(|(_, values)| json!(values)).expect("a member")
        };
        assert_eq!(values("keep"), json!([4, 2, 8, 16]));
        assert_eq!(values("share"), json!([0.25, 0.5, 0.75, 1.0]));
        assert_eq!(values("work"), json!(["auto", "coding"]));
        assert_eq!(values("greet"), json!([true, false]));
        assert_eq!(
            values("window"),
            json!(["budget", {"units": 1}, {"units": 4}, {"units": 16}, {"units": 64}])
        );
        assert_eq!(space.size(), 4 * 4 * 2 * 2 * 5);
    }

    #[test]
    fn configs_are_different_and_begin_with_the_default() {
        let space = Space::of(&schema());
        let all = configs(&space, 1_000);
        assert_eq!(all.len(), space.size());
        let some = configs(&space, 20);
        assert_eq!(some.len(), 20);
        assert_eq!(some[0], json!({}));
        assert!(some.contains(&json!({"keep": 16})) && some.contains(&json!({"greet": false})));
        for (place, config) in some.iter().enumerate() {
            assert!(!some[..place].contains(config), "{config}");
        }
        assert_eq!(configs(&Space::of(&json!({})), 9), [json!({})]);
    }
}
