use super::*;

const TALK: &str = r#"User: Oil the hinge of lock 14, and never touch docs/quay.md.
Tool call edit: {"path": "src/lock/gate.rs", "text": "fn fill_lock() {\n\topenGate(4200)\n}"}
Tool result: took 1284 ms, 12 passed, ticket a81c44
User: 「水門は明日の朝まで閉めておいてください」"#;

fn check(account: &str) -> Result<Checked, &'static str> {
    Read::of(&[], &[TALK]).check(account)
}

#[test]
fn what_was_read_may_be_told_in_any_words() {
    for account in [
        "The user wants the hinge oiled; `/work/src/lock/gate.rs` got `fill_lock()`, which calls openGate(4200).",
        "It took 1,284 ms, all 12 tests passed (ticket a81c44). 3 files are left.",
        "It took 1284ms: TypeScript, SHA256 and 0.813 of it; src/lock/{gate,weir}.rs",
        "「水門」を閉める。",
        "They said: \"Oil the hinge of lock 14 … never touch docs/quay.md\".",
        "利用者は「水門は明日の朝まで閉めておいて」と言った。",
        "1. Ziel\n   - Das Scharnier ölen, z.B. heute und/oder morgen",
    ] {
        let all = Checked {
            text: account.to_owned(),
            left_out: 0,
        };
        assert_eq!(check(account), Ok(all), "{account}");
    }
}

#[test]
fn lines_that_name_what_was_not_read_are_left_out() {
    for invented in [
        "`drain_lock` is next.",
        "They said: \"the ship has to leave the old harbour at once\".",
        "See src/lock/weir.rs.",
        "It took 1285 ms.",
        "Das Tor `fillWeir` ist zu.",
        "The ticket is a81c45.",
        "They said: \"please sell the whole harbour to me\".",
        "彼は「船を全部売ってください」と言った。",
    ] {
        let account = format!(
            "The hinge of lock 14 is oiled.\n{invented}\nOnly the gate is left, and it will be painted."
        );
        let checked = check(&account).map(|checked| (checked.left_out, checked.text));
        let left = account.replace(&format!("{invented}\n"), "");
        assert_eq!(checked, Ok((1, left)), "{invented}");
    }
}

#[test]
fn an_account_of_something_else_is_none() {
    let program = "def total_price(items):\n    return sum_of(items_list)\n\nprint(total_price)\n";
    assert!(check(program).is_err_and(|why| why.starts_with("most of it")));
    let again = "The hinge is oiled and so on. ".repeat(20);
    assert!(check(&again).is_err_and(|why| why.contains("repeats itself")));
    let long: String = (0..OF_CONVERSATION)
        .map(|number| format!("gate{number} "))
        .collect();
    let long = Read::of(&[], &[TALK, &long]);
    let nothing = "Sure! Let me know how it goes.";
    assert!(
        long.check(nothing)
            .is_err_and(|why| why.contains("nothing of"))
    );
    assert!(long.check("Nobody may touch the hinge.").is_ok());
}

#[test]
fn long_accounts_lose_sentences_and_no_language_repeats_itself() {
    let line = "The user wants the hinge of lock 14 oiled. ".repeat(3)
        + &"Nothing else was said about it, and the quay is as it was before. ".repeat(4)
        + "Then drain_lock ran. The gate is left.";
    let checked = check(&line).expect("an account");
    assert_eq!(checked.left_out, 1);
    assert_eq!(checked.text, line.replace(" Then drain_lock ran.", ""));
    let thai = "ผู้ใช้ต้องการให้ปิดประตูน้ำก่อนพรุ่งนี้เช้า และตรวจสอบบานพับ ".repeat(40);
    assert!(check(&thai).is_ok());
    let files: String = (10..60)
        .map(|number| format!("- lock {number}: reviewed, no changes needed\n"))
        .collect();
    assert!(check(&files).is_ok());
    let windows = Read::of(&[], &[r#"{"path":"C:\\work\\tests\\test_gate.py"}"#]);
    assert!(windows.check("`test_gate.py` is there.").is_ok());
}
