use baler_strategy::Failure;
use baler_strategy::testing::run;

use super::{PLENTY, agent};
use crate::SlidingWindow;

#[track_caller]
fn refusal(config: &str) -> String {
    let recording = agent();
    match run::<SlidingWindow>(&recording, &recording.situation(PLENTY), config) {
        Err(Failure::BadConfig(message)) => message,
        other => panic!("not refused: {other:?}"),
    }
}

#[test]
fn a_bad_config_names_the_field_and_what_is_allowed() {
    assert!(
        refusal(r#"{"keep":{"units":0}}"#)
            .starts_with("`keep.units`: invalid value: integer `0`, expected a nonzero u32")
    );
    assert!(refusal(r#"{"keep":{"turns":3}}"#).contains(
        "unknown variant `turns`, expected one of `budget`, `units`, `messages`, `tokens`"
    ));
    assert!(refusal(r#"{"kep":{}}"#).contains("unknown field `kep`, expected `keep`"));
    assert!(refusal(r#"{"keep":{"units":1,"tokens":2}}"#).starts_with("`keep"));
    assert!(refusal("[").contains("EOF"));
}

#[test]
fn the_schema_agrees_with_what_is_read() {
    let schema: serde_json::Value =
        serde_json::from_str(include_str!("../../config.schema.json")).expect("it is JSON");
    assert_eq!(schema["properties"]["keep"]["default"], "budget");
    assert_eq!(crate::Config::default().keep, crate::Keep::Budget);
    let forms = schema["properties"]["keep"]["oneOf"]
        .as_array()
        .expect("it has forms");
    assert_eq!(forms.len(), 4);
    for form in forms.iter().skip(1) {
        let name = form["required"][0].as_str().expect("it names the field");
        let config = format!(r#"{{"keep":{{"{name}":1}}}}"#);
        assert!(
            serde_json::from_str::<crate::Config>(&config).is_ok(),
            "{config}"
        );
    }
}
