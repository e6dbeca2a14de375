//! The vectors of puck's sliding window (docs/prior-systems.md).

use baler_strategy::testing::Recording;

use super::{PLENTY, window};

/// Questions and answers in turn, as far as there are so many messages.
fn talk(messages: usize) -> Recording {
    (0..messages).fold(Recording::new(), |recording, number| {
        let turn = number / 2 + 1;
        if number % 2 == 0 {
            recording.user(&format!("Q{turn}"))
        } else {
            recording.step(&format!("A{turn}"), [])
        }
    })
}

/// What stays of so many messages, as their indices. The newest user message always does, and
/// does not count.
fn kept(messages: usize, size: usize) -> Vec<usize> {
    let config = format!(r#"{{"keep":{{"messages":{size}}}}}"#);
    let tested = window(&talk(messages), PLENTY, &config);
    match tested.plan() {
        Some(_) => tested.kept(),
        None => (0..messages).collect(),
    }
}

/// SW1, SW2, PU-S1, PU-S2
#[test]
fn what_fits_the_window_stays_as_it_is() {
    assert_eq!(kept(0, 10), Vec::<usize>::new());
    assert_eq!(kept(2, 5), [0, 1]);
}

/// SW3, SW9, PU-S1, PU-S4, PU-N7, PU-11: the cut lies where the provider takes it, which the host
/// makes sure of; and the newest user message stays beside the window.
#[test]
fn the_newest_messages_stay() {
    assert_eq!(kept(6, 1), [4, 5]);
    assert_eq!(kept(6, 2), [3, 4, 5]);
    assert_eq!(kept(6, 3), [2, 3, 4, 5]);
}

/// PU-S5, SW7
#[test]
fn it_says_what_it_is_called() {
    use baler_strategy::Strategy as _;
    assert_eq!(crate::SlidingWindow::NAME, "sliding-window");
    assert!(!crate::SlidingWindow::DESCRIPTION.is_empty());
}
