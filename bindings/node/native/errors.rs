//! Errors on their way to JavaScript, which makes instances of its own classes of them.

use baler_embedding::{Error, Remedy};
use napi::Status;
use serde_json::json;

/// Returns the error with its parts as JSON in its message.
pub(crate) fn thrown(error: Error) -> napi::Error {
    let remedy = error.remedy.map(|remedy| match remedy {
        Remedy::GrantModel => "grant-model",
        Remedy::GiveModel => "give-model",
        Remedy::LoadFile => "load-file",
        Remedy::GiveArchive => "give-archive",
    });
    let told = json!({
        "kind": error.kind.class(),
        "option": error.option,
        "message": error.message,
        "remedy": remedy,
    });
    napi::Error::new(Status::GenericFailure, told.to_string())
}
