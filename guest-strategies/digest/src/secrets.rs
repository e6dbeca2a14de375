//! Finds secrets in texts: keys, tokens and passwords, by their form or their position.
//!
//! A text is read once, from left to right: what follows a word or a sign is read up to the next sign, space or quote.

use std::borrow::Cow;
use std::ops::Range;

/// What is written in place of a secret.
const MASK: &str = "[secret]";

/// What keys and tokens of providers begin with.
const PREFIXES: [&str; 35] = [
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "glrt-",
    "gldt-",
    "sk-",
    "sk_live_",
    "sk_test_",
    "rk_live_",
    "rk_test_",
    "whsec_",
    "xoxa-",
    "xoxb-",
    "xoxe-",
    "xoxp-",
    "xoxr-",
    "xoxs-",
    "xapp-",
    "AIza",
    "npm_",
    "pypi-",
    "hf_",
    "gsk_",
    "xai-",
    "nvapi-",
    "shpat_",
    "dop_v1_",
    "dckr_pat_",
    "glsa_",
    "lin_api_",
    "ATATT3x",
];

/// Beginnings of tokens with dots, up to the first dot.
const DOTTED: [&str; 3] = ["SG", "ya29", "hvs"];

/// Ids of keys of AWS, in upper case, and their length.
const AWS: [&str; 2] = ["AKIA", "ASIA"];
const AWS_LENGTH: usize = 20;

/// Least bytes of a key with its prefix, and of its longest run of letters and digits.
const KEY: usize = 20;
const RUN: usize = 10;

/// What the keys of secret values end with, in any case; `-` counts as `_`.
const ENDS: [&str; 14] = [
    "password",
    "passwd",
    "passphrase",
    "_pass",
    "secret",
    "token",
    "api_key",
    "apikey",
    "access_key",
    "accesskey",
    "secret_key",
    "secretkey",
    "private_key",
    "privatekey",
];

/// Least bytes of a secret after such a key in any text, and in settings and options of commands; and of a secret that
/// consists only of letters.
const VALUE: usize = 8;
const SETTING: usize = 4;
const WORD: usize = 12;

/// Most bytes between a key and its sign.
const BETWEEN: usize = 8;

/// Most bytes of a key, of the authority of an address, and of the name of a cookie; and most bytes before the option with
/// a user that are searched for the command.
const LONGEST_KEY: usize = 64;
const AUTHORITY: usize = 256;
const COOKIE: usize = 128;
const COMMAND: usize = 256;

/// Returns a text with a short word in place of each secret.
///
/// Only likely secrets count: hashes, ids, names of files and placeholders (`$API_KEY`, `<token>`) do not.
#[must_use]
pub fn masked(text: &str) -> Cow<'_, str> {
    let secrets = secrets_in(text);
    if secrets.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut written = String::with_capacity(text.len());
    let mut copied = 0;
    for secret in secrets {
        written.push_str(&text[copied..secret.start]);
        written.push_str(MASK);
        copied = secret.end;
    }
    written.push_str(&text[copied..]);
    Cow::Owned(written)
}

/// Whether a key says that its value is a secret: `DB_PASSWORD`, `apiKey`.
pub(crate) fn says_secret(key: &str) -> bool {
    let is_same = |(own, wanted): (u8, u8)| match own {
        b'-' => wanted == b'_',
        own => own.eq_ignore_ascii_case(&wanted),
    };
    ENDS.iter().any(|end| {
        let start = key.len().checked_sub(end.len());
        let own = start.map(|start| key.bytes().skip(start));
        own.is_some_and(|own| own.zip(end.bytes()).all(is_same))
    })
}

/// Returns the places of all likely secrets in a text, in order: keys, tokens, passwords and the content of private keys.
#[must_use]
pub fn secrets_in(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if IS_OF_WORD[bytes[at] as usize] {
            let end = run(text, at, |byte| IS_OF_WORD[byte as usize]);
            at = read_word(text, at..end, &mut found);
            continue;
        }
        let secret = match bytes[at] {
            b'=' => value(text, at),
            b':' if text[at..].starts_with("://") => in_address(text, at),
            // Elsewhere it separates lines, columns and times.
            b':' if matches!(bytes.get(at + 1), Some(b' ' | b'\t' | b'"' | b'\'' | b'\\')) => {
                value(text, at)
            }
            _ => None,
        };
        at = secret.as_ref().map_or(at + 1, |secret| secret.end);
        found.extend(secret);
    }
    found
}

/// Bytes of words: letters, digits, `_` and `-`.
static IS_OF_WORD: [bool; 256] = {
    let mut is_of_word = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        let own = byte as u8;
        is_of_word[byte] = own.is_ascii_alphanumeric() || matches!(own, b'_' | b'-');
        byte += 1;
    }
    is_of_word
};

/// Returns where the run of bytes ends that begins at `start`. It has all bytes of a character, or none.
fn run(text: &str, start: usize, belongs: impl Fn(u8) -> bool) -> usize {
    let rest = &text.as_bytes()[start..];
    let length = rest.iter().position(|byte| !belongs(*byte));
    start + length.unwrap_or(rest.len())
}

/// Returns a word, or a key, without the letter of an escape before it: `\nTOKEN`.
fn without_escape(text: &str, word: Range<usize>) -> Range<usize> {
    let is_escaped = text[..word.start].ends_with('\\');
    match is_escaped && text[word.clone()].starts_with(['n', 'r', 't']) {
        true => word.start + 1..word.end,
        false => word,
    }
}

/// Reads a word and what follows it, as far as it belongs to the word. Returns where to go on.
fn read_word(text: &str, word: Range<usize>, found: &mut Vec<Range<usize>>) -> usize {
    let word = without_escape(text, word);
    let own = &text[word.clone()];
    if own.starts_with('-') {
        let secret = match own {
            "-----BEGIN" => private_key(text, word.end),
            "-u" | "--user" => password_of_user(text, &word),
            _ if own.starts_with("--") && says_secret(own) => {
                let start = run(text, word.end, |byte| b" \"',\\".contains(&byte));
                let value = start..end_of_value(text, start);
                (start > word.end && is_of_setting(&text[value.clone()])).then_some(value)
            }
            _ => None,
        };
        let end = secret.as_ref().map_or(word.end, |secret| secret.end);
        found.extend(secret);
        return end;
    }
    let is_dotted = own.starts_with("eyJ") || DOTTED.contains(&own);
    let word = match is_dotted {
        true => {
            let is_part = |byte: u8| byte == b'.' || IS_OF_WORD[byte as usize];
            let dotted = &text[word.start..run(text, word.start, is_part)];
            word.start..word.start + dotted.trim_end_matches('.').len()
        }
        false => word,
    };
    if is_key(&text[word.clone()]) {
        found.push(word.clone());
    }
    word.end
}

/// Whether a word is a key or a token by its form.
fn is_key(word: &str) -> bool {
    if word.len() < KEY {
        return false;
    }
    if AWS.iter().any(|prefix| word.starts_with(prefix)) && word.len() == AWS_LENGTH {
        let is_of_id = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
        return word.bytes().all(is_of_id);
    }
    if word.contains('.') {
        let mut parts = word.split('.');
        let is_dotted = parts.next().is_some_and(|first| DOTTED.contains(&first));
        let is_web_token = || word.matches(".eyJ").count() == 1 && word.matches('.').count() == 2;
        return (is_dotted || is_web_token()) && has_letter_and_digit(word);
    }
    let body = PREFIXES.iter().find_map(|prefix| word.strip_prefix(prefix));
    body.is_some_and(|body| {
        let runs = body.split(['-', '_']);
        !is_placeholder(body)
            && has_letter_and_digit(body)
            && runs.map(str::len).max().unwrap_or(0) >= RUN
    })
}

fn has_letter_and_digit(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_alphabetic())
        && text.bytes().any(|byte| byte.is_ascii_digit())
}

/// Returns the content of a private key whose first line goes on at `at`.
fn private_key(text: &str, at: usize) -> Option<Range<usize>> {
    const LINE: &str = "-----";
    let head = &text[at..text.floor_char_boundary(at + LONGEST_KEY)];
    let (kind, _) = head.split_once(LINE)?;
    if !kind.contains("PRIVATE KEY") {
        return None;
    }
    let start = at + kind.len() + LINE.len();
    let is_of_key = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=\\ \r\n\t".contains(&byte);
    let end = match text[start..].find(LINE) {
        Some(end) => start + end,
        // The end was cut off.
        None => run(text, start, is_of_key),
    };
    (end > start).then_some(start..end)
}

/// Returns the password in the value of `curl -u`. With other programs, that value is often a pair of numbers.
fn password_of_user(text: &str, option: &Range<usize>) -> Option<Range<usize>> {
    let start = run(text, option.end, |byte| b" \"'\\".contains(&byte));
    let end = end_of_value(text, start);
    let (user, password) = text[start..end].split_once(':')?;
    let before = text.floor_char_boundary(option.start.saturating_sub(COMMAND));
    let command = text[before..option.start].rsplit('\n').next()?;
    let is_one = start > option.end && command.contains("curl") && !is_placeholder(password);
    is_one.then_some(start + user.len() + 1..end)
}

/// Returns the password in an address whose `://` is at `at`.
fn in_address(text: &str, at: usize) -> Option<Range<usize>> {
    let start = at + "://".len();
    let rest = &text[start..text.floor_char_boundary(start + AUTHORITY)];
    let ends = |c: char| c.is_whitespace() || "/?#\"'`\\<>()[],".contains(c);
    let authority = &rest[..rest.find(ends).unwrap_or(rest.len())];
    let (user, _) = authority.rsplit_once('@')?;
    let (name, password) = user.split_once(':')?;
    let start = start + name.len() + 1;
    (password.len() >= 3 && !is_placeholder(password)).then(|| start..start + password.len())
}

/// Returns the value after the `=` or `:` at `sign`, if its key says that it is secret and it looks like a secret.
fn value(text: &str, sign: usize) -> Option<Range<usize>> {
    let key = key_before(text, sign);
    let is_header = |name: &str| key.eq_ignore_ascii_case(name);
    let is_of_login = is_header("authorization") || is_header("proxy-authorization");
    let is_of_cookies = is_header("cookie") || is_header("set-cookie");
    if !is_of_login && !is_of_cookies && !says_secret(key) {
        return None;
    }
    // The second sign of `=>` belongs to it; `==` compares.
    let behind = match &text[sign + 1..] {
        rest if rest.starts_with('>') => sign + 2,
        rest if rest.starts_with('=') => return None,
        _ => sign + 1,
    };
    let start = run(text, behind, |byte| b" \t\"'`\\".contains(&byte));
    if is_of_cookies {
        return cookies(text, start);
    }
    if is_of_login {
        return credential(text, start);
    }
    let end = end_of_value(text, start);
    let value = &text[start..end];
    let between = &text[behind..start];
    let is_quoted = between.contains(['"', '\'', '`']);
    let is_setting = key.starts_with("--") || !key.bytes().any(|byte| byte.is_ascii_lowercase());
    let is_secret = if is_setting && text[sign..].starts_with('=') && !between.contains(' ') {
        is_of_setting(value)
    } else {
        // `token = next_token(2)`, `password: config.password2`.
        let is_code = text[end..].starts_with(['(', '[']) || !is_quoted && value.contains('.');
        // `"Type it 2 times"`
        let is_prose = is_quoted && text[end..].starts_with(char::is_whitespace);
        let is_random = value.len() >= VALUE && has_letter_and_digit(value);
        is_random && !is_code && !is_prose && !is_placeholder(value) && !says_secret(value)
    };
    is_secret.then_some(start..end)
}

/// Returns the key that ends before the sign at this place, with spaces, quotes and brackets between them.
fn key_before(text: &str, sign: usize) -> &str {
    let before = text.as_bytes()[..sign].iter().rev();
    let between = before.clone().take(BETWEEN);
    let between = between
        .take_while(|byte| b" \"'\\]:".contains(byte))
        .count();
    let letters = before.skip(between).take(LONGEST_KEY);
    let letters = letters.take_while(|byte| IS_OF_WORD[**byte as usize] || **byte == b'.');
    let end = sign - between;
    let start = end - letters.count();
    &text[without_escape(text, start..end)]
}

/// Returns where an unquoted value ends, or a quoted one that has no spaces.
fn end_of_value(text: &str, start: usize) -> usize {
    run(text, start, |byte| {
        byte.is_ascii_graphic() && !b"\"'`\\,;&|()[]{}<>=".contains(&byte)
    })
}

/// Whether a value is a secret where settings and options have one.
fn is_of_setting(value: &str) -> bool {
    let is_word = value.bytes().all(|byte| byte.is_ascii_alphabetic());
    let is_path = value.starts_with(['/', '.', '~']) && value[1..].contains(['/', '.']);
    value.len() >= if is_word { WORD } else { SETTING }
        && value.bytes().any(|byte| byte.is_ascii_alphabetic())
        && !is_path
        // Another option.
        && !value.starts_with('-')
        && !value.contains("://")
        && !is_placeholder(value)
}

/// Whether a value only stands for a secret: `$API_KEY`, `***`, `your-token`, `xxxx-xxxx`.
fn is_placeholder(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    value.is_empty()
        || value.starts_with(['$', '%', '*', '#', '<', '{', '[', '@'])
        || lower.starts_with("your")
        || ["xxxx", "...", "****"]
            .iter()
            .any(|sign| lower.contains(sign))
}

/// Returns all cookies of a header whose value begins at `start`.
fn cookies(text: &str, start: usize) -> Option<Range<usize>> {
    let first = &text[start..text.floor_char_boundary(start + COOKIE)];
    let name = &first[..first.find('=')?];
    if name.contains([' ', '\n', '"', '\'', '$', '<', '{']) || name.is_empty() {
        return None;
    }
    if first[name.len() + 1..].starts_with(['$', '<', '{', '*']) {
        return None;
    }
    let end = run(text, start, |byte| !b"\"'`\\\r\n".contains(&byte));
    Some(start..end)
}

/// Returns the credential of an authorization header, without the name of its scheme.
fn credential(text: &str, start: usize) -> Option<Range<usize>> {
    const SCHEMES: [&str; 5] = ["bearer", "basic", "token", "digest", "apikey"];
    let end = run(text, start, |byte| IS_OF_WORD[byte as usize]);
    let scheme = &text[start..end];
    let has_scheme = SCHEMES
        .iter()
        .any(|known| known.eq_ignore_ascii_case(scheme));
    let start = match has_scheme {
        true => run(text, end, |byte| byte == b' '),
        false => start,
    };
    let end = end_of_value(text, start);
    let value = &text[start..end];
    let has_both_cases = value.bytes().any(|byte| byte.is_ascii_lowercase())
        && value.bytes().skip(1).any(|byte| byte.is_ascii_uppercase());
    let is_random = has_letter_and_digit(value) || has_scheme && has_both_cases;
    (value.len() >= VALUE && is_random && !is_placeholder(value)).then_some(start..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_masked(text: &str, secret: &str) {
        let shown = masked(text);
        assert_eq!(shown, text.replacen(secret, MASK, 1));
        assert_eq!(masked(&shown), shown, "what is masked stays so");
    }

    #[test]
    fn keys_of_providers_are_known_by_their_form() {
        for key in [
            "ghp_k2Jq8Wm4Zt6Rb1Xc9Vn3Lp7Hs5Df0Gy",
            "github_pat_11AB2CD3EF4GH5_ij6kl7mn8op9qr0st",
            "glpat-k2Jq8Wm4Zt6Rb1Xc9V",
            "xoxb-210987654321-k2Jq8Wm4Zt6Rb1Xc",
            "sk-proj-k2Jq8Wm4Zt6Rb1Xc_9Vn3Lp7Hs5Df0Gy",
            "sk_live_k2Jq8Wm4Zt6Rb1Xc",
            "AIzak2Jq8Wm4Zt6Rb1Xc9Vn3Lp7Hs5Df0Gy",
            "AKIAQ7W2E9R4T1Y6U3I8",
            "hvs.CAESk2Jq8Wm4Zt6Rb1Xc9Vn3",
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJxdWF5In0.k2Jq8Wm4Zt6Rb1Xc9Vn3",
        ] {
            for text in [
                format!("港で {key} を使う"),
                format!("Error 403: token \"{key}\", lacks scope"),
                format!(r#"{{"output":"whoami\n{key}\n"}}"#),
                format!("git clone https://quay.example/{key}"),
            ] {
                assert_masked(&text, key);
            }
        }
    }

    #[test]
    fn the_content_of_a_private_key_is_a_secret_and_that_of_a_certificate_is_none() {
        let content = "\nMIIEvQIBADANBgkq\nhkiG9w0BAQEFAASC\n";
        let key =
            format!("a\n-----BEGIN RSA PRIVATE KEY-----{content}-----END RSA PRIVATE KEY-----\nb");
        assert_masked(&key, content);
        // Its end was cut off.
        let (cut, _) = key.split_once("-----END").expect("has an end");
        assert_masked(cut, content);
        let certificate = key.replace("RSA PRIVATE KEY", "CERTIFICATE");
        assert_eq!(masked(&certificate), certificate);
    }

    #[test]
    fn passwords_are_known_by_where_they_stand() {
        for text in [
            "DB_URL=postgres://harbour:MAST-7x@db.internal:5432/tide",
            "DB_PASSWORD=MAST-7x",
            "export QUAY_TOKEN=\"MAST-7x\"",
            r#"{"output":"A=1\nSMTP_PASS=MAST-7x\n"}"#,
            "run --password MAST-7x --force",
            "run --api-key=MAST-7x",
            r#"["run", "--token", "MAST-7x"]"#,
            "curl -s -u mira:MAST-7x https://quay.example",
            "git push 'https://mira:MAST-7x@quay.example/tide.git'",
        ] {
            assert_masked(text, "MAST-7x");
        }
        for text in [
            "password: stern4711bow",
            r#"{"client_secret": "stern4711bow", "berth": 7}"#,
            r#"{"arguments": "{\"apiKey\": \"stern4711bow\"}"}"#,
            "config['password'] = 'stern4711bow'",
            "token := `stern4711bow`",
            "password => 'stern4711bow',",
            "https://quay.example/tide?access_token=stern4711bow&berth=7",
            "-H 'Authorization: Bearer stern4711bow'",
            "{\"Authorization\": \"stern4711bow\"}",
            "authorization: Basic stern4711bow==",
            "X-Api-Key: stern4711bow",
        ] {
            assert_masked(text, "stern4711bow");
        }
        assert_masked(
            "Cookie: session=a7; theme=dark\nHost: b",
            "session=a7; theme=dark",
        );
        assert_masked("QUAY_SECRET=sternandbowandkeel", "sternandbowandkeel");
    }

    #[test]
    fn hashes_ids_files_and_what_stands_for_a_secret_are_none() {
        for text in [
            "commit 3fa9c2d41b7708e5a6c19d2f4b8e7a0c5d6f1e2b",
            "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
            r#"{"id": "550e8400-e29b-41d4-a716-446655440000", "order": "W7717600"}"#,
            r#"{"tool_call_id": "call_k2Jq8Wm4Zt6Rb1Xc9Vn3", "type": "toolu_01k2Jq8Wm4Zt6Rb1Xc"}"#,
            "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk==",
            "src/secret.rs:80:12 tests/token2.rs docs/password-reset-2024.md",
            "API_KEY=$API_KEY, TOKEN=<token>, PASSWORD=${PASSWORD} SECRET=your-secret-1",
            "-H \"Authorization: Bearer $TOKEN\", -H 'Authorization: Bearer <token>'",
            "Authorization: required for all berths",
            "postgres://$USER:$PASSWORD@db/tide and https://quay.example:8080/a@b",
            "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx, sk-... and task-k2Jq8Wm4Zt6Rb1Xc9Vn3",
            "max_tokens=4096 TOKEN_LIMIT=100k MAX_TOKEN=16384 token_type: bearer2000",
            "QUAY_TOKEN=/run/secrets/quay.txt QUAY_TOKEN=true",
            "run --token --force-2",
            "--token string   the token; --password PASSWORD; --password-stdin",
            "docker run -u 1000:1000 quay",
            "let token = next_token2(stream); if token == \"stern4711bow\" {",
            "password: config.database.password2, token = other_token",
            "password = \"Type it 2times more\"",
            "The password: at least 12 characters. Cookie: chocolate.",
        ] {
            assert_eq!(masked(text), text);
        }
    }

    #[test]
    fn odd_texts_are_read_without_panic() {
        for text in [
            "",
            "=",
            "://",
            "é=é",
            "token=é",
            "password: ",
            "--password",
            "-u",
            "curl -u",
            "-----BEGIN",
            "-----BEGIN PRIVATE KEY-----",
            "Cookie: é=",
            "Authorization: Bearer",
            "a://é:é日本@x",
            "\\n",
            "PASSWORD==~",
            "PASSWORD=~",
        ] {
            let _ = masked(text);
            let _ = masked(&text.repeat(300));
        }
    }
}
