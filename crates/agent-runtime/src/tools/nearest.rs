//! Says why a text was not found: what in the file comes nearest to it, and where the two part. Pure.

use super::replace::quoted;

/// A sentence for the model about `old`, which does not occur in `text`. Both have plain line feeds.
pub(crate) fn explain(text: &str, old: &str) -> String {
    let miss = "`old_string` was not found";
    if let Some(hint) = numbered(text, old) {
        return format!("{miss}: {hint}");
    }
    let wanted: Vec<&str> = old.trim_matches('\n').split('\n').collect();
    let have: Vec<&str> = text.split('\n').collect();
    match nearest(&have, &wanted) {
        Some((at, same)) if same == wanted.len() => {
            let (line, have, want) = first_difference(&have[at..], &wanted)
                .map_or((at + 1, have[at], wanted[0]), |(i, have, want)| (at + i + 1, have, want));
            format!(
                "{miss}: line {line} differs from it in white space only; the file has {}, `old_string` has {}",
                quoted(have),
                quoted(want)
            )
        }
        Some((at, same)) => {
            let have = have.get(at + same).map_or("its end".to_owned(), |line| quoted(line));
            format!(
                "{miss}: line {} begins like it, but at line {} the file has {have}, `old_string` has {}",
                at + 1,
                at + same + 1,
                quoted(wanted[same])
            )
        }
        None => format!("{miss}, nor anything like its first line; read the file again"),
    }
}

/// Whether the lines still carry the numbers that `read_file` puts before them.
fn numbered(text: &str, old: &str) -> Option<String> {
    let bare: Option<Vec<&str>> = old
        .trim_end_matches('\n')
        .split('\n')
        .map(|line| line.trim_start().split_once('\t'))
        .map(|parts| parts.filter(|(number, _)| number.parse::<u64>().is_ok()).map(|(_, rest)| rest))
        .collect();
    let found = text.contains(&bare?.join("\n"));
    found.then(|| "leave out the line numbers and tabs that read_file puts before the lines".to_owned())
}

/// Where most lines in a row are the same but for white space, and how many. Equal counts: the first.
fn nearest(have: &[&str], wanted: &[&str]) -> Option<(usize, usize)> {
    let wanted: Vec<String> = wanted.iter().map(|line| squeezed(line)).collect();
    let have: Vec<String> = have.iter().map(|line| squeezed(line)).collect();
    if wanted.first()?.is_empty() {
        return None;
    }
    if let [only] = wanted.as_slice() {
        return have.iter().position(|line| line.contains(only.as_str())).map(|at| (at, 1));
    }
    let mut best: Option<(usize, usize)> = None;
    for at in 0..have.len() {
        let same = have[at..].iter().zip(&wanted).take_while(|(have, want)| have == want).count();
        if same > best.map_or(0, |(_, most)| most) {
            best = Some((at, same));
        }
    }
    best
}

fn squeezed(line: &str) -> String {
    line.chars().filter(|c| !c.is_whitespace()).collect()
}

fn first_difference<'a>(have: &[&'a str], wanted: &[&'a str]) -> Option<(usize, &'a str, &'a str)> {
    let last = wanted.len() - 1;
    // The wanted text may begin and end within a line.
    let same = |i: usize, have: &str, want: &str| match i {
        0 if last == 0 => have.contains(want),
        0 => have.ends_with(want),
        i if i == last => have.starts_with(want),
        _ => have == want,
    };
    let pairs = have.iter().zip(wanted).enumerate();
    pairs.map(|(i, (have, want))| (i, *have, *want)).find(|(i, have, want)| !same(*i, have, want))
}
