//! The marks between which models put reasoning, and those of channels ("harmony"), which tell reasoning, text and
//! calls apart by a header. Pure functions over the text from a possible mark on.

/// What begins a block of code.
pub(super) const FENCE: &str = "```";

/// What ends a stretch of reasoning.
#[derive(Debug, Clone, Copy)]
pub(super) struct Closer {
    pub(super) mark: &'static str,
    /// The mark begins what follows and is left to it.
    stays: bool,
}

impl Closer {
    /// How much of the text is the end and nothing else.
    pub(super) fn taken(&self) -> usize {
        if self.stays { 0 } else { self.mark.len() }
    }
}

const fn by(mark: &'static str) -> Closer {
    Closer { mark, stays: false }
}

const fn before(mark: &'static str) -> Closer {
    Closer { mark, stays: true }
}

/// What begins a stretch of reasoning and what can end it.
const THOUGHTS: &[(&str, &[Closer])] = &[
    ("<think>", &[by("</think>")]),
    ("<thinking>", &[by("</thinking>")]),
    ("<thought>", &[by("</thought>")]),
    ("<reasoning>", &[by("</reasoning>")]),
    ("<seed:think>", &[by("</seed:think>")]),
    ("[THINK]", &[by("[/THINK]")]),
    ("◁think▷", &[by("◁/think▷")]),
    ("<|channel>thought\n", &[by("<channel|>")]),
];

const START: &str = "<|start|>assistant";
const CHANNEL: &str = "<|channel|>";
const MESSAGE: &str = "<|message|>";

/// What ends a message of a channel.
const ENDS: &[&str] = &["<|end|>", "<|return|>", "<|call|>"];

/// What ends the reasoning of a channel.
const CHANNEL_CLOSERS: &[Closer] = &[by("<|end|>"), by("<|return|>"), before(CHANNEL), before("<|start|>")];

/// The most bytes of a header.
const MAX_HEADER: usize = 200;

/// What the text at the start of a line is.
#[derive(Debug)]
pub(super) enum Mark {
    /// Reasoning begins behind so many bytes.
    Thought(usize, &'static [Closer]),
    /// So many bytes end a reasoning that had no beginning: some servers keep that to themselves.
    End(usize),
    /// So many bytes say nothing to a user.
    Silent(usize),
    /// A block of code.
    Fence,
    /// More is needed to tell.
    Undecided,
    /// Anything else.
    None,
}

/// Looks at `rest`, which is at the start of a line.
pub(super) fn look(rest: &str, in_fence: bool) -> Mark {
    if rest.starts_with(FENCE) {
        return Mark::Fence;
    }
    if FENCE.starts_with(rest) {
        return Mark::Undecided;
    }
    if in_fence || !rest.starts_with(['<', '[', '◁']) {
        return Mark::None;
    }
    if let Some(end) = ENDS.iter().find(|end| rest.starts_with(**end)) {
        return Mark::Silent(end.len());
    }
    for (mark, closers) in THOUGHTS {
        if rest.starts_with(mark) {
            return Mark::Thought(mark.len(), closers);
        }
        if let Some(closer) = closers.iter().find(|closer| rest.starts_with(closer.mark)) {
            return Mark::End(closer.mark.len());
        }
    }
    match header(rest) {
        Some(Header::Undecided) => return Mark::Undecided,
        Some(Header::Whole { length, recipient: None, is_analysis }) => {
            return if is_analysis { Mark::Thought(length, CHANNEL_CLOSERS) } else { Mark::Silent(length) };
        }
        // A call; not ours to read.
        Some(Header::Whole { recipient: Some(_), .. }) | None => {}
    }
    let closers = THOUGHTS.iter().flat_map(|(_, closers)| closers.iter().map(|closer| &closer.mark));
    let mut marks = THOUGHTS.iter().map(|(mark, _)| mark).chain(ENDS).chain(closers);
    if marks.any(|mark| mark.starts_with(rest)) { Mark::Undecided } else { Mark::None }
}

/// Whether the text at a mark belongs to channels.
pub(super) fn is_channel(text: &str) -> bool {
    text.starts_with("<|start|>") || text.starts_with(CHANNEL)
}

/// Whether a message of a channel ends here, or may, once more has come.
pub(super) fn may_end_channel(rest: &str) -> bool {
    ENDS.iter().any(|end| rest.starts_with(end) || end.starts_with(rest))
}

/// The length of the end; nothing when more is needed to tell.
pub(super) fn channel_end(rest: &str) -> Option<usize> {
    ENDS.iter().find(|end| rest.starts_with(**end)).map(|end| end.len())
}

/// What precedes a message of a channel.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Header<'a> {
    /// It is not whole yet.
    Undecided,
    /// So many bytes; whom the message is for, if it is a call.
    Whole { length: usize, recipient: Option<&'a str>, is_analysis: bool },
}

/// The header that `text` begins with, if it does.
pub(super) fn header(text: &str) -> Option<Header<'_>> {
    if [START, CHANNEL].iter().any(|mark| mark.starts_with(text)) {
        return Some(Header::Undecided);
    }
    if !text.starts_with(START) && !text.starts_with(CHANNEL) {
        return None;
    }
    let end = text.find(MESSAGE);
    let words = &text[..end.unwrap_or(text.len())];
    let fits = |c: char| c.is_ascii_alphanumeric() || " <|>_-.=:".contains(c);
    if words.len() > MAX_HEADER || !words.chars().all(fits) {
        return None;
    }
    let Some(end) = end else { return Some(Header::Undecided) };
    let word = |mark: &str| {
        let (_, after) = words.split_once(mark)?;
        after.split([' ', '<']).next()
    };
    let recipient = word("to=").map(|name| name.strip_prefix("functions.").unwrap_or(name));
    let is_analysis = word(CHANNEL) == Some("analysis");
    Some(Header::Whole { length: end + MESSAGE.len(), recipient, is_analysis })
}

/// Where the message that `text` begins with ends, and where what follows begins.
pub(super) fn message_end(text: &str) -> Option<(usize, usize)> {
    let ends = ENDS.iter().map(|end| (*end, end.len())).chain([("<|start|>", 0), (CHANNEL, 0)]);
    ends.filter_map(|(mark, taken)| text.find(mark).map(|at| (at, at + taken))).min()
}

/// The length of the longest end of `text` that begins one of the marks.
pub(super) fn partial_suffix(text: &str, closers: &[Closer]) -> usize {
    let longest = closers.iter().map(|closer| closer.mark.len() - 1).max().unwrap_or(0).min(text.len());
    (1..=longest)
        .rev()
        .find(|length| {
            let at = text.len() - length;
            text.is_char_boundary(at) && closers.iter().any(|closer| closer.mark.starts_with(&text[at..]))
        })
        .unwrap_or(0)
}
