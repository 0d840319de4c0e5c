//! Pieces of content and what becomes of them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::*;
use session_model::EmbeddedResource;

/// The head of a PNG of this size: all that is looked at.
fn png(width: u32, height: u32) -> String {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    bytes.extend(width.to_be_bytes());
    bytes.extend(height.to_be_bytes());
    bytes.extend([8, 6, 0, 0, 0]);
    STANDARD.encode(bytes)
}

fn image(data: String) -> Content {
    Content::Image { data, mime_type: "image/x".to_owned(), uri: None }
}

fn sound(mime_type: &str, data: &str) -> Content {
    Content::Audio { data: data.to_owned(), mime_type: mime_type.to_owned() }
}

fn blob(mime_type: &str, bytes: &[u8]) -> Content {
    let body = ResourceBody::Blob(STANDARD.encode(bytes));
    Content::Resource(EmbeddedResource {
        uri: "file:///a\u{1b}".to_owned(),
        mime_type: Some(mime_type.to_owned()),
        body,
    })
}

#[test]
fn pieces_that_no_agent_can_take_are_replaced_by_words_of_bounded_length() {
    let table = [
        (image(png(4000, 4000)), None),
        (
            image(png(4001, 4000)),
            Some("an image (image/x), which has 4001x4000 pixels, more than 16000000 in all"),
        ),
        (image(String::new()), Some("an image (image/x), which is empty")),
        (image("A".to_owned()), Some("an image (image/x), which is no base64")),
        (image("AAAA".to_owned()), Some("an image (image/x), which is no whole PNG, JPEG, GIF, WebP or BMP")),
        (
            image("A".repeat(28_000_000)),
            Some("an image (image/x), which has 21000000 bytes, more than 20971520"),
        ),
        (blob("application/pdf", b"%PDF"), None),
        (blob("application/pdf", b""), Some("file:///a (application/pdf), which is empty")),
        (
            blob("image/png", b"no"),
            Some("file:///a (image/png), which is no whole PNG, JPEG, GIF, WebP or BMP"),
        ),
        (
            blob("text/plain; charset=latin1", b"\xff"),
            Some("file:///a (text/plain; charset=latin1), which is no text in UTF-8"),
        ),
        (blob("application/vnd.x+JSON", b"{}"), None),
        (sound("audio/WAV; rate=8000", "AAAA"), None),
        (sound("audio/*", "AAAA"), Some("a sound (audio/*), which has no type of a sound")),
        (sound("video/mp4", "AAAA"), Some("a sound (video/mp4), which has no type of a sound")),
        (sound("audio/wav", "A"), Some("a sound (audio/wav), which is no base64")),
        (sound("audio/wav", ""), Some("a sound (audio/wav), which is empty")),
    ];
    for (piece, expected) in table {
        let mut content = [piece.clone()];
        let lost = check(&mut content);
        assert_eq!(lost.first().map(String::as_str), expected);
        if expected.is_some() {
            let text = content[0].as_text().unwrap();
            assert!(text.contains("was attached, but it ") && text.len() < 1_000, "{text}");
        }
        assert_eq!(check(&mut content), Vec::<String>::new(), "a second look changes nothing");
    }
}

#[test]
fn bytes_decide_what_they_are() {
    let mut content = [
        image(png(1, 1)),
        blob("text/markdown", b"# a"),
        Content::Image {
            data: STANDARD.encode("<svg/>"),
            mime_type: "image/svg+xml".to_owned(),
            uri: Some("file:///a.svg".to_owned()),
        },
    ];
    assert_eq!(check(&mut content), Vec::<String>::new());
    let [Content::Image { mime_type, .. }, Content::Resource(text), Content::Resource(svg)] = &content else {
        panic!("{content:?}");
    };
    assert_eq!(mime_type, "image/png");
    assert_eq!(text.body, ResourceBody::Text("# a".to_owned()));
    assert_eq!((svg.uri.as_str(), &svg.body), ("file:///a.svg", &ResourceBody::Text("<svg/>".to_owned())));
}

#[cfg(unix)]
#[test]
fn links_name_paths_of_this_machine_only() {
    let table = [
        ("file:///a%20b/c", Some("/a b/c")),
        ("file://localhost/a", Some("/a")),
        ("file:///a%2520", Some("/a%20")),
        ("/a b", Some("/a b")),
        ("src/a.rs", Some("src/a.rs")),
        ("file://server/a", None),
        ("//server/a", None),
        (r"\\server\a", None),
        ("https://example.org/a", None),
        ("mailto:a", None),
        ("a\0", None),
        ("", None),
    ];
    for (uri, expected) in table {
        assert_eq!(path_of(uri).as_deref(), expected.map(std::path::Path::new), "{uri}");
    }
}
