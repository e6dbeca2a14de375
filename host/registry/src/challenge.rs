//! What a registry demands in the header `WWW-Authenticate`.

/// What a registry demands of a request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Challenge {
    /// A name and a password.
    Basic,
    /// A token, which a server makes.
    Bearer {
        /// URL of that server.
        realm: String,
        /// What to tell it that the token is for.
        service: Option<String>,
    },
}

impl Challenge {
    /// Reads a value of the header. `None` if this program does not know such a demand.
    pub(crate) fn parse(header: &str) -> Option<Self> {
        let (scheme, parameters) = header.trim().split_once(' ').unwrap_or((header, ""));
        if scheme.eq_ignore_ascii_case("basic") {
            return Some(Self::Basic);
        }
        if !scheme.eq_ignore_ascii_case("bearer") {
            return None;
        }
        Some(Self::Bearer {
            realm: parameter(parameters, "realm")?,
            service: parameter(parameters, "service"),
        })
    }
}

/// Returns the value of a parameter in `name="value",name="value"`.
fn parameter(mut rest: &str, wanted: &str) -> Option<String> {
    loop {
        let (name, after) = rest.split_once('=')?;
        let (value, after) = match after.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"')?,
            None => after.split_at(after.find(',').unwrap_or(after.len())),
        };
        if name.trim().eq_ignore_ascii_case(wanted) {
            return Some(value.to_owned());
        }
        rest = after.trim_start().trim_start_matches(',');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn demands_are_read() {
        let bearer = |realm: &str, service: Option<&str>| {
            Some(Challenge::Bearer {
                realm: realm.into(),
                service: service.map(str::to_owned),
            })
        };
        for (header, expected) in [
            (r#"Basic realm="Registry""#, Some(Challenge::Basic)),
            ("basic", Some(Challenge::Basic)),
            (
                r#"Bearer realm="https://auth.example/token?a=b",service="registry",scope="repository:a,b:pull""#,
                bearer("https://auth.example/token?a=b", Some("registry")),
            ),
            (r#"bearer scope="a,realm=x", Realm="r""#, bearer("r", None)),
            ("Bearer realm=r, service=s", bearer("r", Some("s"))),
            ("Bearer service=\"s\"", None),
            ("Bearer realm=\"r", None),
            ("Negotiate", None),
        ] {
            assert_eq!(Challenge::parse(header), expected, "{header}");
        }
    }
}
