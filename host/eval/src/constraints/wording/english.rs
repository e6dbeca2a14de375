//! Constraints in English.

use super::{Sentences, Wording};

pub(super) const WORDING: Wording = Wording {
    language: "en",
    sentences: [
        // action
        Sentences {
            plain: [
                "Leave the folder {name} as it is, I tidy it up myself.",
                "Work on the branch {name} for all of this.",
                "Installing packages is off the table for {name}, use what is there.",
            ],
            absolute: [
                "Never push to {name} without asking me.",
                "You must not delete anything below {name}.",
                "Do not restart the server while {name} is running.",
            ],
        },
        // information
        Sentences {
            plain: [
                "Keep the prices of {name} out of what customers see.",
                "Ines has the password of {name}, so leave it out of the files.",
                "Take the figures from the report {name}, the others are outdated.",
            ],
            absolute: [
                "Never mention {name} in anything that customers can read.",
                "Only use the figures that {name} published.",
                "The address of Mrs Okafor must stay out of every log.",
            ],
        },
        // process
        Sentences {
            plain: [
                "Run the tests of {name} before each commit.",
                "Show me a plan first, and begin once I have agreed to it.",
                "One change at a time, with a commit for each of them.",
            ],
            absolute: [
                "Always run the tests of {name} before you commit.",
                "Never begin with the next step before I have agreed.",
                "You must ask me first if {name} needs another version.",
            ],
        },
        // preference
        Sentences {
            plain: [
                "I like short names of functions better than long ones.",
                "For {name} I would rather have two small files than a large one.",
                "Plain loops are easier for me to read than chains of calls.",
            ],
            absolute: [
                "I never want to see abbreviations in names.",
                "I always prefer functions to classes in {name}.",
                "Please only use tabs in {name}, that is what I am used to.",
            ],
        },
        // output
        Sentences {
            plain: [
                "Answer me in three sentences or fewer.",
                "Write the summary as a table with the columns {name} and state.",
                "Put the result into the file {name}.md, in British English.",
            ],
            absolute: [
                "Never put emojis into your answers.",
                "Every answer must end with the line {name}.",
                "Always give amounts in euros, with two decimals.",
            ],
        },
    ],
};
