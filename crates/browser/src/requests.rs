//! Requests of the page, and their answers.

use std::collections::BTreeMap;
use std::sync::Arc;

use airtcp_lab::{Chosen, Dropped, Files, LabError, Message, Play, Source};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A request. The contents of `files` follow the JSON, one after the other.
#[derive(Deserialize)]
struct Request {
    /// Names and lengths in bytes.
    #[serde(default)]
    files: Vec<(String, usize)>,
    #[serde(flatten)]
    question: Question,
}

#[derive(Deserialize)]
#[serde(tag = "ask", rename_all = "kebab-case")]
enum Question {
    /// The catalogue and the engine's version.
    Overview,
    /// The link that files describe.
    Drop,
    /// One link.
    Link(Link),
    /// Two sides to play: the first message.
    Play {
        #[serde(flatten)]
        link: Link,
        sides: Vec<String>,
        seed: u64,
        flow: u32,
    },
    /// The next messages of the play.
    Advance {
        /// Time that the previous stretch took.
        took_s: Option<f64>,
    },
    /// One seed of the sides.
    Seed {
        #[serde(flatten)]
        link: Link,
        sides: Vec<String>,
        seed: u64,
    },
    /// The effect of side B over paired seeds.
    Verdict { a_bps: Vec<f64>, b_bps: Vec<f64> },
    /// The scenario of a side, with every key.
    Scenario {
        #[serde(flatten)]
        link: Link,
        remedy: String,
    },
}

/// A link with settings.
#[derive(Deserialize)]
struct Link {
    text: String,
    name: String,
    #[serde(default)]
    settings: BTreeMap<String, String>,
}

#[derive(Serialize)]
struct Progress {
    messages: Vec<Message>,
    time_s: f64,
    duration_s: f64,
    finished: bool,
}

type Contents = BTreeMap<String, Arc<[u8]>>;

/// The answer to a request: `{"value": …}` or `{"error": "…"}` as JSON. `play` is the play in
/// progress.
pub(crate) fn answer(input: &[u8], play: &mut Option<Play>) -> Vec<u8> {
    let answer = match read(input).and_then(|(question, files)| value(question, files, play)) {
        Ok(value) => json!({ "value": value }),
        Err(error) => json!({ "error": error.to_string() }),
    };
    answer.to_string().into_bytes()
}

fn read(input: &[u8]) -> Result<(Question, Contents), LabError> {
    let refused = |problem: String| LabError::Scenario(format!("request: {problem}"));
    let short = || refused("ends early".to_owned());
    let (length, rest) = input.split_first_chunk().ok_or_else(short)?;
    let length = u32::from_le_bytes(*length) as usize;
    let (text, mut rest) = rest.split_at_checked(length).ok_or_else(short)?;
    let request: Request =
        serde_json::from_slice(text).map_err(|error| refused(error.to_string()))?;
    let mut files = Contents::new();
    for (name, length) in request.files {
        let (content, after) = rest.split_at_checked(length).ok_or_else(short)?;
        files.insert(name, content.into());
        rest = after;
    }
    Ok((request.question, files))
}

fn value(question: Question, files: Contents, play: &mut Option<Play>) -> Result<Value, LabError> {
    match question {
        Question::Overview => Ok(json!({
            "version": env!("CARGO_PKG_VERSION"),
            "remedies": airtcp_lab::remedies().collect::<Vec<_>>(),
        })),
        Question::Drop => json_of::<Dropped>(&airtcp_lab::dropped(&files)?),
        Question::Link(link) => {
            let (source, settings) = link.source(files);
            json_of(&airtcp_lab::describe(&source, &settings)?)
        }
        Question::Play {
            link,
            sides,
            seed,
            flow,
        } => {
            let chosen = link.sides(&sides, files)?;
            let begun = Play::new(chosen.into_iter().zip(sides).collect(), seed, flow)?;
            let first = json_of(&begun.begin());
            *play = Some(begun);
            first
        }
        Question::Advance { took_s } => {
            let mut begun = play
                .take()
                .ok_or_else(|| LabError::Run("nothing is being played".to_owned()))?;
            let mut messages = begun.advance(took_s)?;
            let (time_s, duration_s) = begun.progress();
            let finished = begun.is_finished();
            if finished {
                messages.extend(begun.finish()?);
            } else {
                *play = Some(begun);
            }
            json_of(&Progress {
                messages,
                time_s,
                duration_s,
                finished,
            })
        }
        Question::Seed { link, sides, seed } => {
            json_of(&airtcp_lab::seed(&link.sides(&sides, files)?, seed)?)
        }
        Question::Verdict { a_bps, b_bps } => Ok(airtcp_lab::verdict(&a_bps, &b_bps).into()),
        Question::Scenario { link, remedy } => {
            let (source, settings) = link.source(files);
            let chosen = Chosen::new(&source, &settings, &remedy)?;
            Ok(json!({
                "name": format!("{}.toml", chosen.scenario.name),
                "text": chosen.scenario.to_toml(),
            }))
        }
    }
}

fn json_of<T: Serialize>(value: &T) -> Result<Value, LabError> {
    serde_json::to_value(value).map_err(|error| LabError::Run(error.to_string()))
}

impl Link {
    fn source(self, files: Contents) -> (Source, BTreeMap<String, String>) {
        let source = Source {
            text: self.text,
            name: self.name,
            files: Files::Named(files),
        };
        (source, self.settings)
    }

    fn sides(self, remedies: &[String], files: Contents) -> Result<Vec<Chosen>, LabError> {
        let (source, settings) = self.source(files);
        let mut chosen = Vec::new();
        for one in remedies {
            chosen.push(Chosen::new(&source, &settings, one)?);
        }
        Ok(chosen)
    }
}
