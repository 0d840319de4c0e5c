//! Ways to cut bytes into reads, and ways to spell the same events.

/// Numbers that look random and are always the same.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5DEE_CE66)
    }

    pub(crate) fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }

    pub(crate) fn chance(&mut self, one_in: usize) -> bool {
        self.roll(one_in) == 0
    }
}

/// `bytes` in pieces of random length, now and then an empty one; the seed also sets how long they tend to be.
pub(crate) fn pieces(bytes: &[u8], seed: u64) -> Vec<&[u8]> {
    let mut dice = Dice::new(seed);
    let longest = [3, 9, 30, 90, 400][dice.roll(5)];
    let mut rest = bytes;
    let mut pieces = Vec::new();
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(dice.roll(longest + 1).min(rest.len()));
        pieces.push(piece);
        rest = after;
    }
    pieces
}

/// Text in pieces of random length between its characters.
pub(crate) fn characters(text: &str, seed: u64, longest: usize) -> Vec<String> {
    let mut dice = Dice::new(seed);
    let mut pieces = Vec::new();
    let mut rest = text.chars();
    loop {
        let piece: String = rest.by_ref().take(1 + dice.roll(longest)).collect();
        if piece.is_empty() {
            return pieces;
        }
        pieces.push(piece);
    }
}

/// One event: its name and the JSON of its data.
pub(crate) type Event = (&'static str, String);

/// A stream as most servers write it.
pub(crate) fn plain(events: &[Event]) -> String {
    events.iter().map(|(name, data)| named(name) + &format!("data: {data}\n\n")).collect()
}

fn named(name: &str) -> String {
    if name.is_empty() { String::new() } else { format!("event: {name}\n") }
}

/// The same events in every other way a server may write them.
pub(crate) fn spellings(events: &[Event]) -> Vec<(&'static str, String)> {
    let plain = plain(events);
    let each = |spell: &dyn Fn(&Event) -> String| -> String { events.iter().map(spell).collect::<String>() };
    let noise = ": OPENROUTER PROCESSING\n\n:\n\ndata: : keep-alive\n\ndata:\n\nevent: ping\n\nretry: 100\nid: 7\nodd: 1\nodd\n\n";
    vec![
        ("as most write it", plain.clone()),
        ("lines end in CRLF", plain.replace('\n', "\r\n")),
        ("lines end in CR", plain.replace('\n', "\r")),
        (
            "line ends mixed",
            each(&|(name, data)| named(name).replace('\n', "\r") + &format!("data: {data}\r\n\n")),
        ),
        (
            "no blank after the colon",
            each(&|(name, data)| named(name).replace(' ', "") + &format!("data:{data}\n\n")),
        ),
        ("blanks around the data", each(&|(name, data)| named(name) + &format!("data:   {data} \t\n\n"))),
        ("a byte order mark first", format!("\u{feff}{plain}")),
        ("no blank line at the end", plain.trim_end().to_owned()),
        ("one line end at the end", format!("{}\n", plain.trim_end())),
        ("blank lines everywhere", format!("\n\n{}", plain.replace("\n\n", "\n\n\n\n\n"))),
        (
            "comments and keep-alives between",
            each(&|(name, data)| format!("{noise}{}data: {data}\n\n", named(name))),
        ),
        (
            "comments within events",
            each(&|(name, data)| format!("{}: wait\ndata: {data}\n: there\n\n", named(name))),
        ),
        ("the name after the data", each(&|(name, data)| format!("data: {data}\n{}\n", named(name)))),
        ("without names", each(&|(_, data)| format!("data: {data}\n\n"))),
        ("data over several lines", each(&|(name, data)| named(name) + &broken(data))),
        ("data printed for people", each(&|(name, data)| named(name) + &pretty(data))),
        (
            "more after the end",
            format!(
                "{plain}data: {{\"choices\":[{{\"delta\":{{\"content\":\"late\"}}}}]}}\n\ndata: junk\n\n"
            ),
        ),
    ]
}

/// A line break behind the first comma outside of strings and the first brace.
fn broken(data: &str) -> String {
    let Some(at) = data.find("\":").filter(|_| data.starts_with('{')) else {
        return format!("data: {data}\n\n");
    };
    let (before, after) = data.split_at(at + 2);
    format!("data: {before}\ndata:{after}\n\n")
}

fn pretty(data: &str) -> String {
    let Ok(value) = serde_json::from_str::<serde_json::Value>(data) else {
        return format!("data: {data}\n\n");
    };
    let lines = serde_json::to_string_pretty(&value).unwrap();
    format!("data: {}\n\n", lines.replace('\n', "\ndata: "))
}
