//! What a registry demands before it answers: a name and a password, or a token of a server that it names.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::header::{AUTHORIZATION, HeaderValue, WWW_AUTHENTICATE};
use reqwest::{Response, StatusCode, Url};
use serde::Deserialize;

use super::Registry;
use super::request::{Access, origin};
use crate::Credentials;
use crate::challenge::Challenge;
use crate::error::RegistryError;
use crate::oci::read_json;

/// Maximum bytes of a token's answer.
const TOKEN_BYTES: usize = 64 << 10;

#[derive(Deserialize)]
struct Token {
    token: Option<String>,
    access_token: Option<String>,
}

impl Registry {
    /// Returns what the registry accepted before for such a request.
    pub(super) fn known_authorization(&self, access: Access) -> Option<HeaderValue> {
        let known = self.authorization.lock().ok()?;
        let known = known.as_ref();
        // A token for writing allows reading.
        let known = known.filter(|(had, _)| *had == access || *had == Access::Push);
        known.map(|(_, authorization)| authorization.clone())
    }

    /// Gets what the registry demands in an answer.
    pub(super) async fn authorize(
        &self,
        response: &Response,
        access: Access,
        what: &str,
    ) -> Result<HeaderValue, RegistryError> {
        let demands = response.headers().get_all(WWW_AUTHENTICATE).into_iter();
        let mut demands = demands.filter_map(|demand| Challenge::parse(demand.to_str().ok()?));
        let refused = |found| RegistryError::Unauthorized {
            host: self.host.clone(),
            what: what.to_owned(),
            found,
        };
        let authorization = match (demands.next(), &self.credentials) {
            (Some(Challenge::Bearer { realm, service }), _) => {
                let token = self.token(&realm, service.as_deref(), access).await?;
                HeaderValue::try_from(format!("Bearer {token}"))
            }
            (Some(Challenge::Basic), Some(credentials)) => basic(credentials),
            (Some(Challenge::Basic), None) => return Err(refused("none")),
            (None, _) => return Err(refused("a demand other than for a password or a token")),
        };
        let mut authorization =
            authorization.map_err(|_| refused("some that no header can hold"))?;
        authorization.set_sensitive(true);
        if let Ok(mut known) = self.authorization.lock() {
            *known = Some((access, authorization.clone()));
        }
        Ok(authorization)
    }

    /// Asks the server that the registry names for a token. It gets the name and the password, as in Docker; they are
    /// those for this registry alone.
    async fn token(
        &self,
        realm: &str,
        service: Option<&str>,
        access: Access,
    ) -> Result<String, RegistryError> {
        let what = "a token";
        let url = Url::parse(realm).ok();
        let is_private = |url: &Url| {
            // Plain HTTP only where the registry itself is asked so.
            url.scheme() == "https" || url.origin() == self.base.origin()
        };
        let mut url = url
            .filter(is_private)
            .ok_or_else(|| RegistryError::PlainHttp {
                host: origin(Url::parse(realm).ok().as_ref(), realm),
                what: "the password or the token",
            })?;
        let actions = match access {
            Access::Pull => "pull",
            Access::Push => "pull,push",
        };
        let scope = format!("repository:{}:{actions}", self.repository);
        {
            let mut query = url.query_pairs_mut();
            query.append_pair("scope", &scope);
            if let Some(service) = service {
                query.append_pair("service", service);
            }
        }
        let mut request = self.http.get(url);
        if let Some(Ok(authorization)) = self.credentials.as_ref().map(basic) {
            request = request.header(AUTHORIZATION, authorization);
        }
        let response = self.send_once(request, what).await?;
        let response = self.expect(response, StatusCode::OK, what).await?;
        let content = self.read(response, what, TOKEN_BYTES).await?;
        let token: Token = read_json(&content, || what.to_owned())?;
        token.token.or(token.access_token).ok_or_else(|| {
            let expected = "the member `token` or `access_token`".to_owned();
            RegistryError::invalid(what.to_owned(), expected, "neither".to_owned())
        })
    }
}

fn basic(credentials: &Credentials) -> Result<HeaderValue, reqwest::header::InvalidHeaderValue> {
    let Credentials { name, password } = credentials;
    let encoded = STANDARD.encode(format!("{name}:{password}"));
    let mut header = HeaderValue::try_from(format!("Basic {encoded}"))?;
    header.set_sensitive(true);
    Ok(header)
}
