//! Finds what is redacted in a text.

use std::ops::Range;

use baler_digest::secrets_in;

use crate::config::{Address, Config};

/// Most bytes of the name in an address, and of its host.
const NAME: usize = 64;
const HOST: usize = 253;

/// Returns the places of secrets, addresses and words in a text, in order and without overlaps.
pub(crate) fn places(text: &str, config: &Config) -> Vec<Range<usize>> {
    let secrets = secrets_in(text);
    let mut found = Vec::new();
    for kind in &config.addresses {
        let mut addresses = match kind {
            Address::Email => emails(text),
            Address::Ipv4 => ipv4(text),
        };
        // `password@host` in a URL.
        addresses.retain(|own| {
            let behind = secrets.partition_point(|secret| secret.end <= own.start);
            secrets
                .get(behind)
                .is_none_or(|secret| secret.start >= own.end)
        });
        found.append(&mut addresses);
    }
    for word in &config.words {
        let all = text.match_indices(word.as_str());
        found.extend(all.map(|(at, own)| at..at + own.len()));
    }
    if found.is_empty() {
        return secrets;
    }
    found.extend(secrets);
    joined(found)
}

/// Returns the places in order. Those that overlap become one.
fn joined(mut places: Vec<Range<usize>>) -> Vec<Range<usize>> {
    places.sort_unstable_by_key(|place| (place.start, place.end));
    let mut joined: Vec<Range<usize>> = Vec::with_capacity(places.len());
    for place in places {
        match joined.last_mut() {
            Some(last) if place.start < last.end => last.end = last.end.max(place.end),
            _ => joined.push(place),
        }
    }
    joined
}

fn emails(text: &str) -> Vec<Range<usize>> {
    text.match_indices('@')
        .filter_map(|(at, _)| email(text, at))
        .collect()
}

/// Returns the address whose `@` is at this place.
fn email(text: &str, at: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let is_of_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"._%+-".contains(byte);
    let name = bytes[..at].iter().rev().take(NAME);
    let mut start = at - name.take_while(|byte| is_of_name(byte)).count();
    // The letter of an escape in JSON: `\nname@host.example`.
    if text[..start].ends_with('\\') && text[start..at].starts_with(['n', 'r', 't']) {
        start += 1;
    }
    let is_of_host = |byte: &u8| byte.is_ascii_alphanumeric() || b".-".contains(byte);
    let host = bytes[at + 1..].iter().take(HOST);
    let end = at + 1 + host.take_while(|byte| is_of_host(byte)).count();
    let host = text[at + 1..end].trim_end_matches(['.', '-']);
    let (_, top) = host.rsplit_once('.')?;
    let name = &text[start..at];
    let is_one = !name.is_empty()
        && !host.starts_with(['.', '-'])
        && top.len() >= 2
        && top.bytes().all(|byte| byte.is_ascii_alphabetic())
        // Of a repository: `git@host.example:owner/name.git`.
        && name != "git"
        // Of a user in a URL.
        && !text[..start].ends_with("//");
    is_one.then(|| start..at + 1 + host.len())
}

fn ipv4(text: &str) -> Vec<Range<usize>> {
    let is_of_number = |byte: u8| byte.is_ascii_digit() || byte == b'.';
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if !is_of_number(bytes[at]) {
            at += 1;
            continue;
        }
        let length = bytes[at..]
            .iter()
            .take_while(|byte| is_of_number(**byte))
            .count();
        let own = text[at..at + length].trim_end_matches('.');
        let is_in_word = |byte: Option<&u8>| {
            byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(byte))
        };
        let before = at.checked_sub(1).and_then(|before| bytes.get(before));
        if is_address(own) && !is_in_word(before) && !is_in_word(bytes.get(at + own.len())) {
            found.push(at..at + own.len());
        }
        at += length;
    }
    found
}

/// Whether a text of digits and dots is an address of a machine that is not this one.
fn is_address(text: &str) -> bool {
    text.parse::<std::net::Ipv4Addr>()
        .is_ok_and(|own| !own.is_loopback() && !own.is_unspecified())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found<'a>(text: &'a str, config: &Config) -> Vec<&'a str> {
        places(text, config)
            .into_iter()
            .map(|place| &text[place])
            .collect()
    }

    #[test]
    fn addresses_of_people_are_found() {
        for (text, address) in [
            (
                "write to mira.quay+tide@harbour.example.",
                "mira.quay+tide@harbour.example",
            ),
            ("<mailto:m@a-b.example>", "m@a-b.example"),
            (r#"{"log":"by\nm@harbour.example\n"}"#, "m@harbour.example"),
            ("港m@harbour.example港", "m@harbour.example"),
            ("Mira Quay <m@harbour.example>", "m@harbour.example"),
        ] {
            assert_eq!(found(text, &Config::default()), [address], "{text}");
        }
    }

    #[test]
    fn what_only_has_the_sign_is_no_address() {
        for text in [
            "git@harbour.example:mira/tide.git",
            "react@18.2.0 @types/node@20.1.0 tide@latest",
            "@app.route('/tide') a @ b.example",
            "ssh://mira@harbour.example/tide",
            "@",
            "a@",
            "a@.",
            "a@b",
            "a@b.",
            "a@-b.example",
        ] {
            assert!(found(text, &Config::default()).is_empty(), "{text}");
        }
    }

    #[test]
    fn addresses_of_machines_are_found_if_that_is_wanted() {
        let wanted = Config {
            addresses: vec![Address::Ipv4],
            words: Vec::new(),
        };
        let text = "from 203.0.113.7:443 to 127.0.0.1, 198.51.100.23. Version 1.2.3.4.5, 999.1.1.1, v1.2.3.4";
        assert_eq!(found(text, &wanted), ["203.0.113.7", "198.51.100.23"]);
        assert!(found(text, &Config::default()).is_empty());
    }

    #[test]
    fn words_and_what_overlaps_become_one_place() {
        let config = Config {
            words: vec!["Quay".to_owned(), "Quayside".to_owned()],
            ..Config::default()
        };
        assert_eq!(
            found("The Quayside, the Quay, the quay", &config),
            ["Quayside", "Quay"]
        );
        let text =
            "DB=postgres://harbour:MAST-7x@db.harbour.example/Quay, PASSWORD=m@harbour.example";
        assert_eq!(
            found(text, &config),
            ["MAST-7x", "Quay", "m@harbour.example"]
        );
    }
}
