//! One request, on its way to an upstream and back.

use std::sync::Arc;

use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Uri, header};
use baler_host::Format;
use baler_http::Token;
use bytes::Bytes;

use crate::answers::{self, Answer};
use crate::body::{Passing, Room, Taken, Unread};
use crate::encoding::decoded;
use crate::errors;
use crate::fit::{self, Fit, Fitter};
use crate::headers;
use crate::route;
use crate::session::{self, Action, Exchange, Observer};
use crate::upstream::{self, Connected};
use crate::usage::UsageReader;

/// What all requests share.
pub(crate) struct App {
    pub(crate) upstreams: Vec<Connected>,
    pub(crate) fitter: Arc<Fitter>,
    pub(crate) room: Room,
    pub(crate) most_bytes: usize,
    pub(crate) token: Option<Token>,
    pub(crate) is_shadow: bool,
    pub(crate) observer: Option<Observer>,
}

/// A request that holds a conversation.
struct Asked<'a> {
    upstream: &'a Connected,
    url: reqwest::Url,
    method: Method,
    headers: HeaderMap,
    path: &'a str,
    format: Format,
    /// The body as it came.
    came: Bytes,
    /// The model that it names, once that is known.
    model: String,
}

/// Passes a request on, and its answer back.
pub(crate) async fn relay(app: Arc<App>, request: Request<Body>) -> Response<Body> {
    let (mut parts, body) = request.into_parts();
    let format = route::conversation(&parts.method, parts.uri.path());
    if let Some(refused) = refused(&app, &parts, format) {
        return refused;
    }
    let path_and_query = path_and_query(&parts.uri);
    let Some((upstream, path)) = upstream::choose(&app.upstreams, &path_and_query, &parts.headers)
    else {
        let names: Vec<_> = app
            .upstreams
            .iter()
            .map(|upstream| &*upstream.name)
            .collect();
        let message = format!(
            "no upstream has this path: begin it with /NAME, where NAME is {}, or send it to /v1 or /v1beta",
            names.join(", ")
        );
        return errors::respond(format, StatusCode::NOT_FOUND, &message);
    };
    let Some(url) = upstream.url(path) else {
        let message = "the path leads out of the upstream's own";
        return errors::respond(format, StatusCode::BAD_REQUEST, message);
    };
    headers::for_upstream(&mut parts.headers);
    let Some(format) = format else {
        let body = reqwest::Body::wrap(Passing::new(Bytes::new(), body));
        return pass(upstream, url, parts, body, None).await;
    };
    match app.room.take(body).await {
        Ok(Taken::Part(body)) => {
            let body = reqwest::Body::wrap(body);
            let mut response = pass(upstream, url, parts, body, Some(format)).await;
            let done = fit::said(Action::Passed, Some("too-large"), false);
            response.headers_mut().insert(headers::DONE, done);
            response
        }
        Ok(Taken::Whole(came, _room)) => {
            let Parts {
                method, headers, ..
            } = parts;
            let asked = Asked {
                upstream,
                url,
                method,
                headers,
                path: path.split('?').next().unwrap_or_default(),
                format,
                came,
                model: String::new(),
            };
            converse(&app, asked).await
        }
        Err(Unread::TooSlow) => errors::respond(
            Some(format),
            StatusCode::REQUEST_TIMEOUT,
            "the body of the request did not arrive in time",
        ),
        Err(Unread::BrokeOff) => errors::respond(
            Some(format),
            StatusCode::BAD_REQUEST,
            "the body of the request broke off",
        ),
    }
}

/// Returns an answer to what is not passed on at all.
fn refused(app: &App, parts: &Parts, format: Option<Format>) -> Option<Response<Body>> {
    if let Some(token) = &app.token {
        let shown = parts.headers.get(headers::TOKEN);
        if !shown.is_some_and(|shown| token.is(shown.as_bytes())) {
            let message = "send the token of this proxy in the header `x-baler-token`; the key of the provider stays in its own header";
            return Some(errors::respond(format, StatusCode::UNAUTHORIZED, message));
        }
    }
    if parts.method == Method::CONNECT {
        let message = "this is no proxy for other hosts: use its address as the base URL";
        return Some(errors::respond(
            format,
            StatusCode::METHOD_NOT_ALLOWED,
            message,
        ));
    }
    if route::is_upgrade(&parts.headers) {
        // Codex then goes on over HTTPS at once.
        let message = "WebSockets do not pass; send the request over HTTP";
        let mut response = errors::respond(format, StatusCode::UPGRADE_REQUIRED, message);
        let http = HeaderValue::from_static("HTTP/1.1");
        response.headers_mut().insert(header::UPGRADE, http);
        return Some(response);
    }
    None
}

fn path_and_query(uri: &Uri) -> String {
    uri.path_and_query()
        .map(ToString::to_string)
        .unwrap_or_default()
}

/// Passes a request and its answer, both as they arrive.
async fn pass(
    upstream: &Connected,
    url: reqwest::Url,
    parts: Parts,
    body: reqwest::Body,
    format: Option<Format>,
) -> Response<Body> {
    let mut request = reqwest::Request::new(parts.method, url);
    *request.headers_mut() = parts.headers;
    *request.body_mut() = Some(body);
    match upstream.http.execute(request).await {
        Ok(response) => for_client(Response::<reqwest::Body>::from(response).map(Body::new)),
        Err(error) => errors::unreachable(format, &upstream.name, &error),
    }
}

/// Makes an answer of an upstream one for the client.
fn for_client(mut response: Response<Body>) -> Response<Body> {
    headers::remove_hop_by_hop(response.headers_mut());
    // Only this proxy says what it did.
    response.headers_mut().remove(headers::DONE);
    response
}

/// Passes on a request that holds a conversation, within the window.
async fn converse(app: &Arc<App>, mut asked: Asked<'_>) -> Response<Body> {
    let Some(body) = decoded(&asked.headers, asked.came.clone(), app.most_bytes) else {
        let fit = Fit::passed(Some("content-encoding"));
        return match send(&asked, None).await {
            Ok(answer) => finish(app, &asked, fit, answer, false),
            Err(error) => errors::unreachable(Some(asked.format), &asked.upstream.name, &error),
        };
    };
    // What comes back is read as it passes.
    let plain = HeaderValue::from_static("identity");
    asked.headers.insert(header::ACCEPT_ENCODING, plain);
    let name = &asked.upstream.name;
    let fit = app
        .fitter
        .fit(name, &asked.headers, asked.format, body.clone(), false)
        .await;
    let sent = fit.body.clone().filter(|_| !app.is_shadow);
    // Is found while the upstream works.
    let model = {
        let (path, body) = (asked.path.to_owned(), body.clone());
        tokio::task::spawn_blocking(move || fit::model(&path, &body))
    };
    let answer = match send(&asked, sent.clone()).await {
        Ok(answer) => answer,
        Err(error) => {
            let response = errors::unreachable(Some(asked.format), name, &error);
            if let Some(observer) = &app.observer {
                let fit = fit.because("unreachable");
                observer(exchange(app, &asked, fit, response.status(), false));
            }
            return response;
        }
    };
    if answer.is_too_long && !app.is_shadow {
        let less = app
            .fitter
            .fit(name, &asked.headers, asked.format, body.clone(), true)
            .await;
        let before = sent.as_ref().map_or(body.len(), Bytes::len);
        if let Some(smaller) = less.body.clone().filter(|smaller| smaller.len() < before)
            && let Ok(again) = send(&asked, Some(smaller)).await
        {
            asked.model = model.await.unwrap_or_default();
            return finish(app, &asked, less, again, true);
        }
    }
    asked.model = model.await.unwrap_or_default();
    let is_refused = answer.response.status() == StatusCode::BAD_REQUEST;
    if sent.is_some() && is_refused && !answer.is_too_long {
        // Nothing that baler made of a request may end a session that would have gone on without it.
        if let Ok(whole) = send(&asked, None).await
            && whole.response.status().is_success()
        {
            app.fitter.forget(name, &asked.headers, &fit);
            return finish(
                app,
                &asked,
                Fit::passed(Some("refused-by-provider")),
                whole,
                true,
            );
        }
    }
    finish(app, &asked, fit, answer, false)
}

/// Sends a request with another body, or the one that came.
async fn send(asked: &Asked<'_>, body: Option<Bytes>) -> Result<Answer, reqwest::Error> {
    let mut request = reqwest::Request::new(asked.method.clone(), asked.url.clone());
    *request.headers_mut() = asked.headers.clone();
    if body.is_some() {
        request.headers_mut().remove(header::CONTENT_ENCODING);
    }
    *request.body_mut() = Some(body.unwrap_or_else(|| asked.came.clone()).into());
    let response = asked.upstream.http.execute(request).await?;
    Ok(answers::look(response).await)
}

/// Passes an answer back, and tells of the exchange once it has ended.
fn finish(app: &App, asked: &Asked<'_>, fit: Fit, answer: Answer, again: bool) -> Response<Body> {
    let done = fit::said(fit.action, fit.why.as_deref(), app.is_shadow);
    let mut response = match &app.observer {
        Some(observer) => {
            let exchange = exchange(app, asked, fit, answer.response.status(), again);
            let reader = UsageReader::new(asked.format, answer.response.headers());
            let mut record = Record {
                exchange: Some(exchange),
                reader: Some(reader),
                observer: Arc::clone(observer),
            };
            answers::tapped(answer.response, move |piece| record.see(piece))
        }
        None => answers::tapped(answer.response, |_| ()),
    };
    response = for_client(response);
    response.headers_mut().insert(headers::DONE, done);
    response
}

fn exchange(app: &App, asked: &Asked<'_>, fit: Fit, status: StatusCode, again: bool) -> Exchange {
    let came = asked.came.len();
    Exchange {
        time: session::now(),
        session: fit.session,
        run: None,
        program: session::program(&asked.headers),
        upstream: asked.upstream.name.clone(),
        format: asked.format,
        model: asked.model.clone(),
        action: fit.action,
        why: fit.why,
        shadow: app.is_shadow,
        again,
        messages: fit.messages,
        tokens: fit.tokens,
        bytes: [came, fit.body.map_or(came, |body| body.len())],
        added_us: fit.added_us,
        status: status.as_u16(),
        usage: None,
        receipt: fit
            .receipt
            .and_then(|receipt| serde_json::to_value(receipt).ok()),
    }
}

/// Tells of an exchange when its answer has ended, or nobody reads it any more.
struct Record {
    exchange: Option<Exchange>,
    reader: Option<UsageReader>,
    observer: Observer,
}

impl Record {
    fn see(&mut self, piece: &Bytes) {
        if let Some(reader) = &mut self.reader {
            reader.see(piece);
        }
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        if let (Some(mut exchange), Some(reader)) = (self.exchange.take(), self.reader.take()) {
            exchange.usage = reader.end();
            (self.observer)(exchange);
        }
    }
}
