//! The judge over HTTP: one request per claim, no retry, no redirect.
//!
//! What is sent and what counts as an answer is decided in [`kbc_queries::semantic::judge`]. The key
//! comes from the environment and stands in no message. Settings are part of a knowledge base, which
//! may be somebody else's: they choose among variables that end with `_API_KEY`, and an address other
//! than the service's never gets the service's own.

use std::collections::HashMap;
use std::fmt;

use kbc_queries::commit::hash::Digest;
use kbc_queries::parse::settings::SemanticSettings;
use kbc_queries::semantic::judge::Wire;
use kbc_queries::semantic::{Answer, Request};

/// After this many failed requests on end nobody is asked any more: a server that is down would cost
/// the whole time-out for every claim.
const PATIENCE: usize = 3;

/// A language model that is asked over HTTP.
pub struct Judge {
    wire: Wire,
    endpoint: String,
    model: String,
    #[cfg_attr(
        not(feature = "judge"),
        allow(dead_code, reason = "only a request has one")
    )]
    timeout: u32,
    key: Result<String, String>,
}

impl fmt::Debug for Judge {
    /// Without the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Judge")
            .field("wire", &self.wire)
            .field("endpoint", &self.endpoint)
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}

impl Judge {
    /// The judge of a project. `variable` gives the value of an environment variable. A key that is
    /// missing is said in every answer, not here: the contract has it there.
    ///
    /// # Errors
    /// A sentence that says what has to be set.
    pub fn new(
        settings: &SemanticSettings,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, String> {
        let kind = settings.judge.ok_or(
            "no judge is configured: set `judge = \"anthropic\"` or `\"openai\"` in the table `[semantic]` of kb.toml",
        )?;
        let wire = Wire::from(kind);
        let model =
            settings.model.as_deref().or(wire.default_model()).ok_or(
                "no model is configured: set `model` in the table `[semantic]` of kb.toml",
            )?;
        let own = settings
            .endpoint
            .as_deref()
            .filter(|endpoint| *endpoint != wire.default_endpoint());
        let name = match (&settings.key_env, own) {
            (Some(name), Some(_)) if is_of_a_service(name) => {
                return Err(format!(
                    "the key of a service, {name}, is not sent to another `endpoint`; give it a variable of its own by `key_env`"
                ));
            }
            (Some(name), _) => name,
            (None, Some(_)) => {
                return Err("another `endpoint` needs a `key_env` of its own".to_owned());
            }
            (None, None) => wire.default_key_env(),
        };
        let key = variable(name)
            .map(|key| key.trim().to_owned())
            .filter(|key| !key.is_empty())
            .ok_or_else(|| format!("the environment variable {name} holds no key"));
        Ok(Judge {
            wire,
            endpoint: own.unwrap_or(wire.default_endpoint()).to_owned(),
            model: model.to_owned(),
            timeout: settings.timeout,
            key,
        })
    }

    /// Where claims are sent, for people: `model at address`.
    pub fn describe(&self) -> String {
        format!("{} at {}", self.model, self.endpoint)
    }

    /// One answer per request; a pair of chunk and claim that occurs twice is asked once.
    pub fn consult(&self, requests: &[Request]) -> Vec<Answer> {
        let mut known: HashMap<(Digest, Digest), Answer> = HashMap::new();
        let mut failures = 0;
        requests
            .iter()
            .map(|request| {
                let pair = (request.chunk_hash, request.claim_window_hash);
                if let Some(answer) = known.get(&pair) {
                    return answer.clone();
                }
                let answer = match &self.key {
                    Err(reason) => Err(reason.clone()),
                    Ok(_) if failures >= PATIENCE => {
                        Err(format!("not asked: {PATIENCE} requests on end failed"))
                    }
                    Ok(key) => wire::ask(self, key, request, &mut failures),
                };
                known.insert(pair, answer.clone());
                answer
            })
            .collect()
    }
}

fn is_of_a_service(name: &str) -> bool {
    [Wire::Anthropic, Wire::OpenAi]
        .iter()
        .any(|wire| wire.default_key_env() == name)
}

#[cfg(feature = "judge")]
mod wire {
    use std::time::Duration;

    use kbc_queries::semantic::judge::{read_response, request_body};
    use kbc_queries::semantic::{Answer, Request};

    use super::Judge;

    /// Most bytes of a response that are read.
    const LONGEST_RESPONSE: u64 = 1 << 20;

    /// Asks about one claim. `failures` counts requests on end to which no answer came.
    pub(super) fn ask(judge: &Judge, key: &str, request: &Request, failures: &mut usize) -> Answer {
        let body = request_body(judge.wire, &judge.model, request);
        match post(judge, key, body) {
            Ok(response) => {
                *failures = 0;
                read_response(judge.wire, &response)
            }
            Err(reason) => {
                *failures += 1;
                Err(reason)
            }
        }
    }

    fn post(judge: &Judge, key: &str, body: String) -> Result<String, String> {
        let mut config = ureq::Agent::config_builder()
            .timeout_global(Some(Duration::from_secs(u64::from(judge.timeout))))
            .max_redirects(0)
            .http_status_as_error(false)
            .user_agent(concat!("kb/", env!("CARGO_PKG_VERSION")));
        if judge.endpoint.starts_with("http://") {
            // This is a server on this machine: no proxy stands between.
            config = config.proxy(None);
        }
        let agent: ureq::Agent = config.build().into();
        let mut request = agent
            .post(&judge.endpoint)
            .header("content-type", "application/json");
        for (name, value) in judge.wire.headers(key) {
            request = request.header(name, value);
        }
        let failed = |error: ureq::Error| match error {
            ureq::Error::Timeout(_) => format!("no answer within {} s", judge.timeout),
            error => error.to_string(),
        };
        let mut response = request.send(body).map_err(failed)?;
        let status = response.status();
        if !status.is_success() {
            return Err(format!("HTTP status {}", status.as_u16()));
        }
        response
            .body_mut()
            .with_config()
            .limit(LONGEST_RESPONSE)
            .read_to_string()
            .map_err(failed)
    }
}

#[cfg(not(feature = "judge"))]
mod wire {
    use kbc_queries::semantic::{Answer, Request};

    use super::Judge;

    pub(super) fn ask(_: &Judge, _: &str, _: &Request, _: &mut usize) -> Answer {
        Err("this program was built without the judge (cargo feature `judge`)".to_owned())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;
    use kbc_queries::parse::settings::JudgeKind;

    fn settings(judge: JudgeKind) -> SemanticSettings {
        SemanticSettings {
            judge: Some(judge),
            ..SemanticSettings::default()
        }
    }

    #[test]
    fn defaults_are_those_of_the_service() {
        let judge = Judge::new(&settings(JudgeKind::Anthropic), |name| {
            (name == "ANTHROPIC_API_KEY").then(|| " k \n".to_owned())
        })
        .unwrap();
        assert_eq!(
            judge.describe(),
            "claude-haiku-4-5-20251001 at https://api.anthropic.com/v1/messages"
        );
        assert_eq!(judge.key.as_deref(), Ok("k"));
        assert!(!format!("{judge:?}").contains("\"k\""));
    }

    #[test]
    fn what_is_missing_is_said() {
        let none = |_: &str| None;
        assert!(
            Judge::new(&SemanticSettings::default(), none)
                .unwrap_err()
                .contains("no judge")
        );
        assert!(
            Judge::new(&settings(JudgeKind::OpenAi), none)
                .unwrap_err()
                .contains("no model")
        );
        let judge = Judge::new(&settings(JudgeKind::Anthropic), none).unwrap();
        assert!(judge.key.clone().unwrap_err().contains("ANTHROPIC_API_KEY"));
    }

    #[test]
    fn the_key_of_a_service_goes_nowhere_else() {
        let elsewhere = |key_env: Option<&str>| SemanticSettings {
            endpoint: Some("https://example.org/v1".into()),
            key_env: key_env.map(Into::into),
            ..settings(JudgeKind::Anthropic)
        };
        let any = |_: &str| Some("secret".to_owned());
        for key_env in [None, Some("ANTHROPIC_API_KEY"), Some("OPENAI_API_KEY")] {
            let error = Judge::new(&elsewhere(key_env), any).unwrap_err();
            assert!(!error.contains("secret"), "{error}");
        }
        assert!(Judge::new(&elsewhere(Some("OWN_API_KEY")), any).is_ok());
    }
}
