//! What makes a system keep `baler proxy` running: a unit of systemd, or a property list of launchd.

use std::env;

use anyhow::{Context as _, anyhow};
use clap::ValueEnum;

use crate::exit::Failure;

/// What starts programs and keeps them running.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Manager {
    /// A user unit, on Linux
    Systemd,
    /// A launch agent, on macOS
    Launchd,
}

/// What is run as a service.
struct Command {
    program: String,
    arguments: Vec<String>,
    /// Paths of the arguments start from here.
    folder: String,
}

/// Returns the text that makes a system run this very program with the same arguments, without `--service`.
///
/// # Errors
/// The text cannot hold the program, an argument or the working folder.
pub(crate) fn unit(manager: Manager) -> Result<String, Failure> {
    let program = env::current_exe().context("cannot find out where this program is")?;
    let folder = env::current_dir().context("cannot find out the working folder")?;
    let mut words: Vec<String> = Vec::new();
    let all = [program.into_os_string(), folder.into_os_string()].into_iter();
    for word in all.chain(env::args_os().skip(1)) {
        let word = word.into_string().ok();
        let word = word.filter(|word| !word.chars().any(char::is_control));
        words.push(word.ok_or_else(|| {
            Failure::wrong_use(anyhow!(
                "a path or argument of the service is not UTF-8, or has control characters: a service cannot be given those"
            ))
        })?);
    }
    let mut words = words.into_iter();
    let command = Command {
        program: words.next().unwrap_or_default(),
        folder: words.next().unwrap_or_default(),
        arguments: without_service(words),
    };
    Ok(match manager {
        Manager::Systemd => command.systemd(),
        Manager::Launchd => command.launchd(),
    })
}

/// Returns the arguments but for `--service`.
fn without_service(arguments: impl Iterator<Item = String>) -> Vec<String> {
    let mut is_value = false;
    let kept = arguments.filter(|argument| {
        let is_service = is_value || argument == "--service" || argument.starts_with("--service=");
        is_value = argument == "--service";
        !is_service
    });
    kept.collect()
}

impl Manager {
    /// Returns how the text becomes a service.
    pub(crate) const fn how_to_install(self) -> &'static str {
        match self {
            Self::Systemd => {
                "\
Write this to ~/.config/systemd/user/baler-proxy.service, and start it:
  systemctl --user daemon-reload
  systemctl --user enable --now baler-proxy
It runs while you are logged in; `loginctl enable-linger` makes it run always. `journalctl --user -u baler-proxy` shows what it says.
"
            }
            Self::Launchd => {
                "\
Write this to ~/Library/LaunchAgents/baler.proxy.plist, and start it:
  launchctl bootstrap gui/$(id -u) ~/Library/LaunchAgents/baler.proxy.plist
It says what it does in /tmp/baler-proxy.log.
"
            }
        }
    }
}

impl Command {
    fn systemd(&self) -> String {
        let mut words = vec![quoted(&self.program)];
        // What has a `$` would be a variable.
        let arguments = self.arguments.iter().map(|word| word.replace('$', "$$"));
        words.extend(arguments.map(|word| quoted(&word)));
        format!(
            "[Unit]\n\
             Description=baler proxy\n\
             \n\
             [Service]\n\
             ExecStart={}\n\
             WorkingDirectory={}\n\
             Restart=on-failure\n\
             \n\
             [Install]\n\
             WantedBy=default.target\n",
            words.join(" "),
            self.folder.replace('%', "%%")
        )
    }

    fn launchd(&self) -> String {
        let words = std::iter::once(&self.program).chain(&self.arguments);
        let words = words.map(|word| format!("    <string>{}</string>\n", escaped(word)));
        format!(
            r#"<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>baler.proxy</string>
  <key>ProgramArguments</key>
  <array>
{}  </array>
  <key>WorkingDirectory</key>
  <string>{}</string>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>StandardErrorPath</key>
  <string>/tmp/baler-proxy.log</string>
</dict>
</plist>
"#,
            words.collect::<String>(),
            escaped(&self.folder)
        )
    }
}

/// Spells a word as systemd reads it: in quotes, with `\` before those, and `%` twice.
fn quoted(word: &str) -> String {
    let word = word.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", word.replace('%', "%%"))
}

/// Spells a text as XML.
fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;");
    text.replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command() -> Command {
        Command {
            program: "/opt/my tools/baler".to_owned(),
            arguments: ["proxy", "--upstream", r#"a=http://h/"$x%<&\"#]
                .map(str::to_owned)
                .to_vec(),
            folder: "/home/a b/100%".to_owned(),
        }
    }

    #[test]
    fn arguments_are_spelled_as_systemd_reads_them() {
        let unit = command().systemd();
        let line =
            r#"ExecStart="/opt/my tools/baler" "proxy" "--upstream" "a=http://h/\"$$x%%<&\\""#;
        assert!(unit.lines().any(|other| other == line), "{unit}");
        assert!(
            unit.contains("\nWorkingDirectory=/home/a b/100%%\n"),
            "{unit}"
        );
    }

    #[test]
    fn arguments_are_spelled_as_xml() {
        let unit = command().launchd();
        let word = r#"    <string>a=http://h/"$x%&lt;&amp;\</string>"#;
        assert!(unit.lines().any(|other| other == word), "{unit}");
    }

    #[test]
    fn the_option_itself_is_left_out() {
        let without = |words: &[&str]| without_service(words.iter().map(ToString::to_string));
        let expected = ["proxy", "--at", "9"];
        assert_eq!(
            without(&["proxy", "--service", "systemd", "--at", "9"]),
            expected
        );
        assert_eq!(
            without(&["proxy", "--at", "9", "--service=launchd"]),
            expected
        );
    }
}
