//! What all lines come to, by stage and format.

use crate::case::Line;
use crate::fit::MOST;
use crate::watch::Ran;

/// What is told of a line.
#[derive(Debug, Clone)]
pub(crate) struct Told {
    pub(crate) stage: String,
    pub(crate) kind: &'static str,
    pub(crate) dimension: &'static str,
    /// The largest fitted exponent; `None` if all sizes were too quick.
    pub(crate) exponent: Option<f64>,
    /// Whether the case aborted, hung or reached a limit.
    pub(crate) is_stopped: bool,
}

impl Told {
    pub(crate) fn of(line: &Line, ran: &Ran) -> Self {
        Self {
            stage: line.stage.to_string(),
            kind: line.wire.name(),
            dimension: line.dimension,
            exponent: ran.fit().map(|fit| fit.worst()),
            is_stopped: ran.stopped.is_some(),
        }
    }
}

/// Lines that have something in common.
#[derive(Debug)]
struct Group<'a> {
    stage: &'a str,
    kind: &'a str,
    lines: Vec<&'a Told>,
}

impl<'a> Group<'a> {
    /// The exponents with their lines, from small to large.
    fn exponents(&self) -> Vec<(f64, &'a Told)> {
        let lines = self.lines.iter();
        let mut exponents: Vec<(f64, &Told)> = lines
            .filter_map(|line| Some((line.exponent?, *line)))
            .collect();
        exponents.sort_by(|one, other| one.0.total_cmp(&other.0));
        exponents
    }

    fn median(&self) -> Option<f64> {
        let exponents = self.exponents();
        let upper = exponents.get(exponents.len() / 2)?.0;
        let lower = exponents.get((exponents.len() - 1) / 2)?.0;
        Some(f64::midpoint(lower, upper))
    }

    fn highest(&self) -> Option<(f64, &'a Told)> {
        self.exponents().pop()
    }

    fn quick(&self) -> usize {
        let lines = self.lines.iter();
        lines
            .filter(|line| line.exponent.is_none() && !line.is_stopped)
            .count()
    }
}

/// Lines by stage and format, in the order of the lines.
fn groups(lines: &[Told]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for line in lines {
        let known = groups
            .iter_mut()
            .find(|group| group.stage == line.stage && group.kind == line.kind);
        match known {
            Some(group) => group.lines.push(line),
            None => groups.push(Group {
                stage: &line.stage,
                kind: line.kind,
                lines: vec![line],
            }),
        }
    }
    groups
}

fn shown(exponent: Option<f64>) -> String {
    exponent.map_or_else(|| "–".to_owned(), |exponent| format!("{exponent:.2}"))
}

/// Returns a table with a row for each stage and format.
pub(crate) fn markdown(lines: &[Told]) -> String {
    let mut text = "| stage | format | dimensions | of these under 20 ms | median exponent | highest exponent | its dimension |\n\
        |---|---|---|---|---|---|---|\n"
        .to_owned();
    for group in groups(lines) {
        let highest = group.highest();
        text.push_str(&format!(
            "| {} | {} | {} | {} | {} | {} | {} |\n",
            group.stage,
            group.kind,
            group.lines.len(),
            group.quick(),
            shown(group.median()),
            shown(highest.map(|(exponent, _)| exponent)),
            highest.map_or("–", |(_, line)| line.dimension),
        ));
    }
    let above = |line: &&Told| line.exponent.is_some_and(|exponent| exponent > MOST);
    let above = lines.iter().filter(above).count();
    let stopped = lines.iter().filter(|line| line.is_stopped).count();
    let all = lines.len();
    text + &format!("\n{all} lines: {above} above {MOST}, {stopped} stopped.\n")
}
