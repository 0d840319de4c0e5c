//! Patches in the form that several model families are trained on: `*** Begin Patch`, then a section a file with
//! hunks that are found by their context, not by line numbers. Only lines that differ change; all others keep their
//! bytes. Pure.

/// What a patch does to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Section {
    pub(crate) path: String,
    pub(crate) deed: Deed,
}

/// What is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Deed {
    /// A new file with this text.
    Add(String),
    /// The file goes.
    Delete,
    /// The file changes, and goes to another place if there is one.
    Update { hunks: Vec<Hunk>, to: Option<String> },
}

/// One change of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Hunk {
    /// Lines above the change, each to be found below the one before.
    anchors: Vec<String>,
    lines: Vec<Line>,
    /// The change is at the end of the file.
    at_end: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Line {
    Keep(String),
    Remove(String),
    Insert(String),
}

impl Hunk {
    fn old(&self) -> Vec<&str> {
        let old = |line: &'_ Line| match line {
            Line::Keep(_) | Line::Remove(_) => true,
            Line::Insert(_) => false,
        };
        self.lines.iter().filter(|line| old(line)).map(Line::text).collect()
    }
}

impl Line {
    fn text(&self) -> &str {
        match self {
            Self::Keep(text) | Self::Remove(text) | Self::Insert(text) => text,
        }
    }
}

/// Reads a patch.
///
/// # Errors
/// A sentence for the model.
pub(crate) fn parse(patch: &str) -> Result<Vec<Section>, String> {
    let mut sections: Vec<Section> = Vec::new();
    for (number, line) in (1..).zip(patch.lines()) {
        let header = line.trim_end().strip_prefix("*** ");
        if header.is_some_and(|header| header.starts_with("End Patch")) {
            break;
        }
        let taken = match (header, sections.last_mut()) {
            (Some(header), _) => take_header(&mut sections, header),
            (None, Some(section)) => section.take(line),
            (None, None) if line.trim().is_empty() => Ok(()),
            (None, None) => Err(format!("`*** Update File: <path>` or the like is missing before {line:?}")),
        };
        taken.map_err(|reason| format!("line {number} of the patch: {reason}"))?;
    }
    for section in &mut sections {
        section.finish()?;
    }
    if sections.is_empty() { Err("the patch names no file".to_owned()) } else { Ok(sections) }
}

fn take_header(sections: &mut Vec<Section>, header: &str) -> Result<(), String> {
    if header.starts_with("Begin Patch") {
        return Ok(());
    }
    if header == "End of File" {
        let hunk = sections.last_mut().and_then(Section::hunk);
        hunk.ok_or("`*** End of File` belongs to a hunk")?.at_end = true;
        return Ok(());
    }
    let (what, path) = header.split_once(": ").unwrap_or((header, ""));
    let path = path.trim().to_owned();
    if path.is_empty() {
        return Err(format!("`*** {header}` names no file"));
    }
    let deed = match what {
        "Add File" => Deed::Add(String::new()),
        "Delete File" => Deed::Delete,
        "Update File" => Deed::Update { hunks: Vec::new(), to: None },
        "Move to" => {
            let Some(Section { deed: Deed::Update { to, .. }, .. }) = sections.last_mut() else {
                return Err("`*** Move to` belongs to an `*** Update File`".to_owned());
            };
            *to = Some(path);
            return Ok(());
        }
        _ => return Err(format!("`*** {what}` is none of Add File, Update File, Delete File, Move to")),
    };
    if sections.iter().any(|section| section.path == path) {
        return Err(format!("{path} has a section already; put all its hunks there"));
    }
    sections.push(Section { path, deed });
    Ok(())
}

impl Section {
    fn hunk(&mut self) -> Option<&mut Hunk> {
        match &mut self.deed {
            Deed::Update { hunks, .. } => hunks.last_mut(),
            Deed::Add(_) | Deed::Delete => None,
        }
    }

    fn take(&mut self, line: &str) -> Result<(), String> {
        match &mut self.deed {
            Deed::Add(text) => match line.strip_prefix('+') {
                Some(line) => {
                    text.push_str(line);
                    text.push('\n');
                    Ok(())
                }
                None if line.trim().is_empty() => Ok(()),
                None => Err("each line of a new file begins with `+`".to_owned()),
            },
            Deed::Delete if line.trim().is_empty() => Ok(()),
            Deed::Delete => Err("nothing follows `*** Delete File`".to_owned()),
            Deed::Update { hunks, .. } => take_line(hunks, line),
        }
    }

    /// Drops what is no part of a hunk, and refuses one without a change.
    fn finish(&mut self) -> Result<(), String> {
        let Deed::Update { hunks, to } = &mut self.deed else { return Ok(()) };
        for hunk in hunks.iter_mut() {
            // Blank lines between a hunk and what follows it.
            while matches!(hunk.lines.last(), Some(Line::Keep(text)) if text.is_empty()) {
                hunk.lines.pop();
            }
        }
        hunks.retain(|hunk| !hunk.lines.is_empty());
        let changes = |hunk: &Hunk| hunk.lines.iter().any(|line| !matches!(line, Line::Keep(_)));
        match hunks.iter().all(changes) {
            true if hunks.is_empty() && to.is_none() => {
                Err(format!("{}: no hunk changes anything", self.path))
            }
            true => Ok(()),
            false => Err(format!("{}: a hunk has no line that begins with `+` or `-`", self.path)),
        }
    }
}

fn take_line(hunks: &mut Vec<Hunk>, line: &str) -> Result<(), String> {
    if let Some(anchor) = line.strip_prefix("@@") {
        if hunks.last().is_none_or(|hunk| !hunk.lines.is_empty()) {
            hunks.push(Hunk::default());
        }
        // Line numbers in the manner of `diff` are not looked at: models count badly.
        let anchor = anchor.trim();
        if let Some(hunk) = hunks.last_mut().filter(|_| !anchor.is_empty() && !anchor.starts_with('-')) {
            hunk.anchors.push(anchor.to_owned());
        }
        return Ok(());
    }
    if hunks.is_empty() {
        hunks.push(Hunk::default());
    }
    let Some(hunk) = hunks.last_mut() else { return Ok(()) };
    let mut chars = line.chars();
    let rest = |chars: std::str::Chars<'_>| chars.as_str().to_owned();
    hunk.lines.push(match chars.next() {
        Some('+') => Line::Insert(rest(chars)),
        Some('-') => Line::Remove(rest(chars)),
        Some(' ') => Line::Keep(rest(chars)),
        None => Line::Keep(String::new()),
        Some(_) => return Err("a line of a hunk begins with a space, `+`, `-` or `@@`".to_owned()),
    });
    Ok(())
}

/// A patched text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Patched {
    pub(crate) text: String,
    /// The first line that differs, from 1.
    pub(crate) line: u32,
}

/// `text` after `hunks`, which apply in order from its beginning.
///
/// # Errors
/// A sentence for the model: which hunk has no place, or more than one.
pub(crate) fn apply(text: &str, hunks: &[Hunk]) -> Result<Patched, String> {
    let ends_open = !text.is_empty() && !text.ends_with('\n');
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    let end = if lines.first().is_some_and(|line| line.ends_with("\r\n")) { "\r\n" } else { "\n" };
    let (mut from, mut first) = (0, None);
    for (number, hunk) in (1..).zip(hunks) {
        let at = place(&lines, hunk, from).map_err(|reason| format!("hunk {number}: {reason}"))?;
        let (mut next, mut changed) = (at, None);
        for line in &hunk.lines {
            match line {
                Line::Keep(_) => next += 1,
                Line::Remove(_) => {
                    lines.remove(next);
                    changed = changed.or(Some(next));
                }
                Line::Insert(text) => {
                    lines.insert(next, format!("{text}{end}"));
                    changed = changed.or(Some(next));
                    next += 1;
                }
            }
        }
        first = first.or(changed);
        from = next;
    }
    let last = lines.len().saturating_sub(1);
    for (at, line) in lines.iter_mut().enumerate() {
        if at < last && !line.ends_with('\n') {
            line.push_str(end);
        } else if at == last && ends_open {
            line.truncate(content(line).len());
        }
    }
    let line = u32::try_from(first.unwrap_or(0) + 1).unwrap_or(u32::MAX);
    Ok(Patched { text: lines.concat(), line })
}

/// A line without its end.
fn content(line: &str) -> &str {
    let line = line.strip_suffix('\n').unwrap_or(line);
    line.strip_suffix('\r').unwrap_or(line)
}

/// Where `hunk` applies, at or below `from`.
fn place(lines: &[String], hunk: &Hunk, mut from: usize) -> Result<usize, String> {
    for anchor in &hunk.anchors {
        let below = lines[from..].iter().position(|line| content(line).trim() == anchor.trim());
        let below = below.or_else(|| lines[from..].iter().position(|line| line.contains(anchor.trim())));
        from += 1 + below.ok_or_else(|| format!("there is no line {anchor:?} below line {from}"))?;
    }
    let old = hunk.old();
    if old.is_empty() {
        let is_end = hunk.anchors.is_empty() || hunk.at_end;
        return Ok(if is_end { lines.len() } else { from });
    }
    // A model's white space is not always the file's.
    let readings: [fn(&str) -> &str; 3] = [|line| line, str::trim_end, str::trim];
    for reading in readings {
        let same = |at: &usize| {
            let here = lines[*at..*at + old.len()].iter().map(|line| reading(content(line)));
            here.eq(old.iter().map(|line| reading(line)))
        };
        let ends = (lines.len() + 1).saturating_sub(old.len());
        let mut found: Vec<usize> = (from..ends).filter(same).collect();
        if hunk.at_end {
            found.retain(|at| at + old.len() == lines.len());
        }
        match found.as_slice() {
            [] => {}
            [at] => return Ok(*at),
            // Below its anchor, a hunk means the nearest place.
            [at, ..] if !hunk.anchors.is_empty() => return Ok(*at),
            [one, other, ..] => {
                return Err(format!(
                    "its lines occur more than once (lines {} and {}); add context, or `@@` and a line above",
                    one + 1,
                    other + 1
                ));
            }
        }
    }
    let wanted = old.iter().find(|line| !line.trim().is_empty()).unwrap_or(&"");
    let near = lines.iter().position(|line| content(line).trim() == wanted.trim());
    Err(match near {
        Some(at) => {
            format!("its lines do not occur together below line {from}; {wanted:?} is line {}", at + 1)
        }
        None => format!("its lines do not occur below line {from}; there is no line {wanted:?}"),
    })
}
