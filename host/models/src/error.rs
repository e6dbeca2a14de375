//! Why a model gave no answer.

/// Why a question has no answer. The texts are at most a few hundred characters long and never contain the
/// key; they may quote the provider.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// All attempts failed in a way that may pass: no connection, no answer in time, a failure of the
    /// provider, or a rate limit.
    #[error("the model did not answer: {0}")]
    Unavailable(String),
    /// The question is too long for the model.
    #[error("the question is too long for the model{}", fits.map_or(String::new(), |fits| format!(", which takes {fits} tokens")))]
    TooLong {
        /// How many tokens would fit; `None` if the provider does not say.
        fits: Option<u32>,
    },
    /// The provider refused the question: a wrong key, an unknown model, or a policy.
    #[error("the provider refused the question: {0}")]
    Refused(String),
    /// A limit of the grant is reached. The text names the limit, such as `16 requests`.
    #[error("a limit of the grant is reached: {0}")]
    Spent(String),
    /// The provider answered with something that is not an answer.
    #[error("the model's answer cannot be used: {0}")]
    InvalidAnswer(String),
    /// The server's certificate is not trusted, or it does not speak TLS.
    #[error("no trusted connection: {0}")]
    InsecureConnection(String),
    /// The question cannot be sent as an HTTP request.
    #[error("the request cannot be made")]
    InvalidRequest,
}
