//! gemini-cli: which API it asks depends on how its user logged in.

use std::fs;

use serde_json::Value;

use super::{Found, Plan};

/// The way to log in with which it asks the API that takes a base URL.
const BY_KEY: &str = "gemini-api-key";

pub(super) fn plan(plan: &mut Plan, found: &Found) {
    let Some(home) = &found.home else {
        return;
    };
    let file = home.join(".gemini/settings.json");
    let text = fs::read_to_string(&file).unwrap_or_default();
    let settings: Value = serde_json::from_str(&text).unwrap_or_default();
    let login = settings.pointer("/security/auth/selectedType");
    if let Some(login) = login
        .and_then(Value::as_str)
        .filter(|login| *login != BY_KEY)
    {
        plan.warnings.push(format!(
            "gemini-cli's requests do not pass through baler: by `{login}` ({}) it asks another API; log in with an API key (`/auth`)",
            file.display()
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{found, of, warns, write};

    #[test]
    fn a_login_with_which_nothing_passes_is_said() {
        let home = tempfile::tempdir().expect("a folder");
        let settings =
            |login: &str| format!(r#"{{"security": {{"auth": {{"selectedType": "{login}"}}}}}}"#);
        write(
            home.path(),
            ".gemini/settings.json",
            &settings("oauth-personal"),
        );
        let (plan, _) = of(&["gemini"], &found(&[], home.path()));
        assert!(warns(&plan, "oauth-personal"), "{:?}", plan.warnings);
        write(
            home.path(),
            ".gemini/settings.json",
            &settings("gemini-api-key"),
        );
        let (plan, _) = of(&["gemini"], &found(&[], home.path()));
        assert_eq!(plan.warnings, [""; 0]);
    }
}
