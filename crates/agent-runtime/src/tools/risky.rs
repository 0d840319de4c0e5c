//! Options by which a familiar program runs or writes something else: `git -c`, `rg --pre`, `sort -o`. A leave for
//! the program, or a wildcard in a rule, does not reach to them; they have to be spelled out. Pure.

use super::wrappers::program_of;

/// Programs, and how the options begin that make them do something else.
const RISKY: &[(&str, &[&str])] = &[
    (
        "git",
        &[
            "-c",
            "-O",
            "-o",
            "--config",
            "--exec",
            "--ext-diff",
            "--git-dir",
            "--namespace",
            "--open-files-in-pager",
            "--output",
            "--paginate",
            "--receive-pack",
            "--separate-git-dir",
            "--super-prefix",
            "--template",
            "--textconv",
            "--upload-pack",
            "--work-tree",
            "ext::",
            "-u",
        ],
    ),
    ("cargo", &["--config", "-Z", "--manifest-path", "-C"]),
    ("rustc", &["-C", "--codegen", "-o", "--out-dir", "-L", "--extern"]),
    ("rustfmt", &["--config"]),
    ("go", &["-exec", "--exec", "-toolexec", "--toolexec", "-o", "-vettool", "--vettool", "-C", "-overlay"]),
    ("make", &["-f", "--file", "--makefile", "-C", "--directory", "-E", "--eval", "-I", "SHELL="]),
    ("npm", &["--script-shell", "--prefix", "-C", "--node-options", "--globalconfig", "--userconfig"]),
    ("pnpm", &["--script-shell", "-C", "--dir", "--prefix"]),
    ("yarn", &["--cwd", "--script-shell"]),
    ("pip", &["--index-url", "-i", "--extra-index-url", "--target", "-t", "--prefix", "--root", "--python"]),
    ("pytest", &["-c", "--rootdir", "-p", "--override-ini", "-o", "--confcutdir", "--basetemp"]),
    ("docker", &["-H", "--host", "--config"]),
    ("kubectl", &["--kubeconfig", "--server", "-s"]),
    ("rg", &["--pre", "--hostname-bin"]),
    ("date", &["-s", "--s", "-f", "--f"]),
    ("file", &["-C", "--compile"]),
    ("tree", &["-o"]),
    ("printf", &["-v"]),
    ("sort", &["-o", "--o", "--compress-program", "-T", "--temporary-directory"]),
    ("diff", &["--output", "-o"]),
    ("jq", &["-f", "--from-file", "-L"]),
    ("gh", &["--editor", "-e", "--web"]),
    ("terraform", &["-chdir"]),
    ("tsc", &["--outDir", "--outFile", "-p"]),
    (
        "eslint",
        &[
            "-c",
            "--config",
            "--rulesdir",
            "--resolve-plugins-relative-to",
            "-o",
            "--output-file",
            "--parser",
            "-f",
        ],
    ),
    ("prettier", &["--plugin", "--config"]),
    ("bat", &["--pager", "--config-file"]),
];

/// The words of a command that need more than a leave for its program.
pub(crate) fn risky_words(words: &[String]) -> impl Iterator<Item = &str> {
    let program = words.first().map(|word| program_of(word)).unwrap_or_default();
    let options = RISKY.iter().find(|(name, _)| *name == program).map_or(&[][..], |(_, options)| *options);
    words.iter().skip(1).map(String::as_str).filter(|word| options.iter().any(|option| begins(word, option)))
}

/// A long option may be shortened, and a short one stand in a bundle with others before it.
fn begins(word: &str, option: &str) -> bool {
    if word.starts_with(option) {
        return true;
    }
    if let (Some(long), Some(given)) = (option.strip_prefix("--"), word.strip_prefix("--")) {
        let name = given.split_once('=').map_or(given, |(name, _)| name);
        return name.len() >= 3 && long.starts_with(name);
    }
    let single = option.len() == 2 && option.starts_with('-') && !option.starts_with("--");
    let bundle = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
    single && bundle.is_some_and(|letters| letters.chars().any(|letter| option.ends_with(letter)))
}
