//! The table `[semantic]`: who is asked about quotes that were not found, and what an answer may do.

use serde::{Serialize, Serializer};

use super::entries::List;

words! {
    /// Which interface the judge speaks.
    JudgeKind {
        /// Anthropic's Messages.
        Anthropic = "anthropic",
        /// Chat completions as OpenAI has them.
        OpenAi = "openai",
    }
}

words! {
    /// What an opinion may do.
    SemanticPolicy {
        /// Stand beside the failure.
        Advisory = "advisory",
        /// Make the failure a warning.
        Rescue = "rescue",
    }
}

/// The semantic layer. Nothing here asks anybody: that takes `--semantic` or `--semantic-judge`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct SemanticSettings {
    /// The judge; `None`: there is none to be asked.
    pub judge: Option<JudgeKind>,
    /// Its address; default: that of the service behind `judge`.
    pub endpoint: Option<Box<str>>,
    /// The model; the default depends on `judge`.
    pub model: Option<Box<str>>,
    /// The environment variable with the key; the default depends on `judge`.
    pub key_env: Option<Box<str>>,
    /// Seconds after which a request has failed.
    pub timeout: u32,
    /// What an opinion may do.
    pub policy: SemanticPolicy,
}

impl Default for SemanticSettings {
    fn default() -> Self {
        SemanticSettings {
            judge: None,
            endpoint: None,
            model: None,
            key_env: None,
            timeout: 30,
            policy: SemanticPolicy::Advisory,
        }
    }
}

impl SemanticSettings {
    pub(super) fn list(&self, list: &mut List<'_>) {
        let judge = self.judge.map(JudgeKind::as_str);
        list.optional("semantic.judge".to_owned(), judge);
        list.optional("semantic.endpoint".to_owned(), self.endpoint.as_deref());
        list.optional("semantic.model".to_owned(), self.model.as_deref());
        list.optional("semantic.key_env".to_owned(), self.key_env.as_deref());
        list.add("semantic.timeout".to_owned(), self.timeout.to_string());
        list.add(
            "semantic.policy".to_owned(),
            super::entries::quoted(self.policy.as_str()),
        );
    }
}

/// Why this is no address that a key may be sent to: https, or http on this machine.
pub(super) fn endpoint_problem(url: &str) -> Option<&'static str> {
    let plain = url.strip_prefix("http://");
    let Some(rest) = plain.or_else(|| url.strip_prefix("https://")) else {
        return Some("must begin with `https://`, or with `http://` for a server on this machine");
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.is_empty() || rest.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return Some("must name a host");
    }
    if authority.contains('@') {
        return Some("must not hold a user's name or password");
    }
    let host = match authority.strip_prefix('[') {
        Some(v6) => v6.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    };
    let local = matches!(host, "localhost" | "127.0.0.1" | "::1");
    if plain.is_some() && !local {
        return Some("must begin with `https://`: a key would be sent in the clear");
    }
    None
}

/// Why this is no environment variable that a key for a judge may be read from. Settings are part of
/// a knowledge base, which may be somebody else's: they must not send any secret anywhere.
pub(super) fn key_env_problem(name: &str) -> Option<&'static str> {
    let shape = name
        .bytes()
        .all(|byte| matches!(byte, b'A'..=b'Z' | b'0'..=b'9' | b'_'));
    if !shape {
        return Some("must be the name of an environment variable: A-Z, 0-9 and `_`");
    }
    if !name.ends_with("_API_KEY") {
        return Some("must end with `_API_KEY`: other variables are not for judges");
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        for good in [
            "https://api.example.org/v1/messages",
            "http://127.0.0.1:8080/v1/chat/completions",
            "http://localhost/x",
            "http://[::1]:9/x",
        ] {
            assert_eq!(endpoint_problem(good), None, "{good}");
        }
        for bad in [
            "",
            "ftp://example.org",
            "api.example.org",
            "https://",
            "https:///path",
            "http://example.org/v1",
            "http://localhost.example.org/",
            "http://127.0.0.1.example.org/",
            "http://localhost@example.org/",
            "https://user:pass@example.org/",
            "https://a b/",
        ] {
            assert!(endpoint_problem(bad).is_some(), "{bad}");
        }
    }

    #[test]
    fn variables() {
        for good in ["ANTHROPIC_API_KEY", "MY_2_API_KEY"] {
            assert_eq!(key_env_problem(good), None, "{good}");
        }
        for bad in [
            "",
            "HOME",
            "GITHUB_TOKEN",
            "my_api_key",
            "A B_API_KEY",
            "AWS_SECRET_ACCESS_KEY",
        ] {
            assert!(key_env_problem(bad).is_some(), "{bad}");
        }
    }
}
