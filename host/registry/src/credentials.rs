//! Names and passwords for registries, from the configuration of Docker, which the tools for registries share.

use std::fmt;
use std::path::Path;

use baler_files::{Links, open_regular, read_within};
use docker_credential::{CredentialRetrievalError, DockerCredential};

use crate::error::RegistryError;
use crate::shown::shown;

/// Maximum bytes of the configuration.
const MAX_BYTES: usize = 1 << 20;

/// A name and a password. They are never shown.
#[derive(Clone)]
pub struct Credentials {
    pub(crate) name: String,
    pub(crate) password: String,
}

impl Credentials {
    /// Takes a name and a password.
    #[must_use]
    pub const fn new(name: String, password: String) -> Self {
        Self { name, password }
    }

    /// Reads those for `host` from the folder of Docker's `config.json`: that which `DOCKER_CONFIG` names, or `.docker`
    /// in the user's home. If that file names a helper program for the host, the helper is asked. `None` if there are
    /// none.
    ///
    /// # Errors
    /// The file cannot be read, or holds something else than a name and a password for this host.
    pub fn of_docker(folder: &Path, host: &str) -> Result<Option<Self>, RegistryError> {
        let path = folder.join("config.json");
        let failed = |problem: String| RegistryError::Credentials {
            host: host.to_owned(),
            path: path.display().to_string(),
            problem: shown(&problem),
        };
        let shown_path = path.display().to_string();
        let file = open_regular(&path, Links::Followed, &shown_path)
            .map_err(|error| failed(error.to_string()))?;
        let Some(file) = file else { return Ok(None) };
        let content = read_within(file, MAX_BYTES).map_err(|error| failed(error.to_string()))?;
        let content = content
            .ok_or_else(|| failed(format!("expected at most {MAX_BYTES} bytes, found more")))?;
        match docker_credential::get_credential_from_reader(content.as_slice(), host) {
            Ok(DockerCredential::UsernamePassword(name, password)) => {
                Ok(Some(Self { name, password }))
            }
            Ok(DockerCredential::IdentityToken(_)) => Err(failed(
                "expected a name and a password, found an identity token; log in with an access token as the password"
                    .to_owned(),
            )),
            Err(CredentialRetrievalError::NoCredentialConfigured) => Ok(None),
            // What helpers say if they have none. Asking without any may do.
            Err(CredentialRetrievalError::HelperFailure { stdout, .. })
                if stdout.contains("credentials not found") =>
            {
                Ok(None)
            }
            // Its text shows what the helper wrote, which may hold a secret.
            Err(CredentialRetrievalError::HelperFailure { helper, .. }) => {
                Err(failed(format!("the helper `{helper}` failed")))
            }
            Err(error) => Err(failed(error.to_string())),
        }
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credentials(…)")
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn credentials_are_those_of_the_host_and_never_shown() {
        let folder = tempfile::tempdir().unwrap();
        let read = |host| Credentials::of_docker(folder.path(), host);
        assert!(read("registry.example").unwrap().is_none());
        // `me:hunter2`, and an identity token.
        let config = r#"{"auths": {"registry.example:5000": {"auth": "bWU6aHVudGVyMg=="},
            "token.example": {"identitytoken": "hunter2"}, "broken.example": {"auth": "bWU"}}}"#;
        fs::write(folder.path().join("config.json"), config).unwrap();
        let found = read("registry.example:5000").unwrap().unwrap();
        assert_eq!(
            (found.name.as_str(), found.password.as_str()),
            ("me", "hunter2")
        );
        assert!(!format!("{found:?}").contains("hunter2"));
        assert!(read("other.example").unwrap().is_none());
        for (host, problem) in [
            ("token.example", "identity token"),
            ("broken.example", "decode"),
        ] {
            let error = read(host).unwrap_err().to_string();
            assert!(error.contains(host) && error.contains(problem), "{error}");
            assert!(!error.contains("hunter2"), "{error}");
        }
        fs::write(folder.path().join("config.json"), "no JSON").unwrap();
        let error = read("registry.example").unwrap_err().to_string();
        assert!(error.contains("config.json"), "{error}");
    }
}
