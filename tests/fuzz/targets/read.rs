//! Whatever the bytes are: reading them never panics. What reads is divided and counted
//! consistently, a request body is given back byte for byte, and compactions keep it valid and
//! make it smaller, or leave it alone.

#![no_main]

use baler_fuzz::{HOST, check, check_compactions};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(conversation) = HOST.read_bytes(data.to_vec()) else {
        return;
    };
    if conversation.log().is_none() {
        assert_eq!(
            conversation.document().as_bytes(),
            data,
            "read is not as given"
        );
    }
    check(&conversation);
    check_compactions(&HOST, &conversation);
});
