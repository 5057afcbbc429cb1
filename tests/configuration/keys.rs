//! How keys are written.

use siaga::model::LayerKind;

/// The keys that a pattern such as `limits.{body,chunk}` stands for, in their order, with `<>` for every `<…>` but those whose
/// values the page lists.
pub(crate) fn expanded(pattern: &str) -> Vec<String> {
    let pattern = pattern.replace("<resource>", &format!("{{{}}}", LayerKind::NAMES.join(",")));
    if let Some((before, rest)) = pattern.split_once('{') {
        let (parts, after) = rest.split_once('}').unwrap_or_else(|| panic!("{pattern}"));
        return parts.split(',').flat_map(|part| expanded(&format!("{before}{part}{after}"))).collect();
    }
    match pattern.split_once('<') {
        Some((before, rest)) => {
            let after = rest.split_once('>').unwrap_or_else(|| panic!("{pattern}")).1;
            // What follows has placeholders of its own.
            let after = expanded(after).remove(0);
            vec![format!("{before}<>{after}")]
        }
        None => vec![pattern],
    }
}
