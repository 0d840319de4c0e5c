//! Reading and writing the protocol's messages in both versions: typical ones, and ones that carry 1 MiB of text.

use std::hint::black_box;

use acp_wire::{v1, v2};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Text with something to escape in each line, as source code has.
fn text(size: usize) -> String {
    let line = "    println!(\"{} of {}\", done, total);\n";
    line.chars().cycle().take(size).collect()
}

fn both<T: Serialize + DeserializeOwned>(criterion: &mut Criterion, name: &str, message: &T) {
    let json = serde_json::to_string(message).expect("a message is JSON");
    let mut group = criterion.benchmark_group("messages");
    group.throughput(Throughput::Bytes(json.len() as u64));
    group.bench_function(BenchmarkId::new("decode", name), |bencher| {
        bencher.iter(|| serde_json::from_str::<T>(black_box(&json)).expect("it was written"));
    });
    let mut out = Vec::with_capacity(json.len());
    group.bench_function(BenchmarkId::new("encode", name), |bencher| {
        bencher.iter(|| {
            out.clear();
            serde_json::to_writer(&mut out, black_box(message)).expect("a message is JSON");
        });
    });
    group.finish();
}

fn version_1(criterion: &mut Criterion) {
    for (size, label) in [(80, "v1 prompt"), (1 << 20, "v1 prompt of 1 MiB")] {
        let link = v1::ResourceLink::new("lib.rs", "file:///home/me/project/src/lib.rs");
        let request = v1::PromptRequest::new("sess_0198c0de", [text(size).as_str().into(), link.into()]);
        both(criterion, label, &request);
    }
    let chunk = v1::ContentChunk::new("a few words ").message_id("msg_0198c0df");
    let update = v1::SessionUpdate::AgentMessageChunk(chunk);
    both(criterion, "v1 chunk", &v1::SessionNotification::new("sess_0198c0de", update));
    for (size, label) in [(400, "v1 edit"), (1 << 20, "v1 edit of 1 MiB")] {
        let diff = v1::Diff::new("/home/me/project/src/lib.rs", text(size / 2)).old_text(text(size / 2));
        let call = v1::ToolCall::new("call_1", "edit_file: src/lib.rs")
            .kind(v1::ToolKind::Edit)
            .status(v1::ToolCallStatus::Completed)
            .content([diff.into()]);
        let update = v1::SessionUpdate::ToolCall(call);
        both(criterion, label, &v1::SessionNotification::new("sess_0198c0de", update));
    }
}

fn version_2(criterion: &mut Criterion) {
    for (size, label) in [(80, "v2 prompt"), (1 << 20, "v2 prompt of 1 MiB")] {
        let link = v2::ResourceLink::new("lib.rs", "file:///home/me/project/src/lib.rs");
        let request = v2::PromptRequest::new("sess_0198c0de", [text(size).as_str().into(), link.into()]);
        both(criterion, label, &request);
    }
    let chunk = v2::ContentChunk::new("msg_0198c0df", "a few words ");
    let update = v2::SessionUpdate::AgentMessageChunk(chunk);
    both(criterion, "v2 chunk", &v2::UpdateSessionNotification::new("sess_0198c0de", update));
    for (size, label) in [(400, "v2 edit"), (1 << 20, "v2 edit of 1 MiB")] {
        let changed = v2::DiffChangeOperation::Modify(v2::DiffPathChange::new("/home/me/project/src/lib.rs"));
        let patch = v2::DiffPatch::new(v2::DiffPatchFormat::GitPatch, text(size));
        let diff = v2::Diff::new([v2::DiffChange::new(changed)]).patch(patch);
        let update = v2::ToolCallUpdate::new("call_1")
            .title("edit_file: src/lib.rs")
            .kind(v2::ToolKind::Edit)
            .status(v2::ToolCallStatus::Completed)
            .content(vec![diff.into()]);
        let update = v2::SessionUpdate::ToolCallUpdate(update);
        both(criterion, label, &v2::UpdateSessionNotification::new("sess_0198c0de", update));
    }
}

criterion_group!(benches, version_1, version_2);
criterion_main!(benches);
