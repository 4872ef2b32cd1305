//! A capture with an analysis of one of its flows: the input of `airtcp diagnose`.

use std::fmt;
use std::path::Path;

use crate::analysis::{Analysis, Place};
use crate::flow::{Completeness, Flow};
use crate::read::{ReadError, Reader};
use crate::survey::{Limits, Progress, Survey, SurveyError};

/// Errors that end the reading of a capture without a result.
#[derive(Debug)]
pub enum CaptureError {
    /// The capture is unreadable, or the listener cancelled.
    Survey(SurveyError),
    /// It has no flow with that number.
    NoSuchFlow {
        /// The requested flow number.
        flow: u32,
        /// Number of flows.
        flows: u32,
    },
}

impl fmt::Display for CaptureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Survey(error) => error.fmt(f),
            Self::NoSuchFlow { flow, flows } => write!(
                f,
                "flow = {flow}: expected a number of the table of flows, which has {flows}"
            ),
        }
    }
}

impl std::error::Error for CaptureError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Survey(error) => Some(error),
            Self::NoSuchFlow { .. } => None,
        }
    }
}

impl From<SurveyError> for CaptureError {
    fn from(error: SurveyError) -> Self {
        Self::Survey(error)
    }
}

impl From<ReadError> for CaptureError {
    fn from(error: ReadError) -> Self {
        Self::Survey(error.into())
    }
}

/// A capture as read.
#[derive(Debug)]
pub struct Capture {
    /// Its flows, and whether it is sound.
    pub survey: Survey,
    /// The analysed flow; `None` if the capture contains no TCP.
    pub analysis: Option<Analysis>,
}

impl Capture {
    /// Reads the capture at `path` (`-` is standard input) and analyses flow number `flow`, or the
    /// one with the most payload. `view` sets the vantage point instead of detecting it.
    ///
    /// A flow without room for all its packets needs a second pass, which a pipe does not allow:
    /// then the analysis reports that, as it does if there is no room in that pass either.
    ///
    /// # Errors
    /// The capture cannot be read, has no such flow, or `listen` answered `false`.
    pub fn read(
        path: &Path,
        flow: Option<u32>,
        view: Option<Place>,
        limits: &Limits,
        listen: &mut dyn FnMut(Progress) -> bool,
    ) -> Result<Self, CaptureError> {
        let mut survey = Survey::of(Reader::open(path)?, limits, None, listen)?;
        let Some(number) = chosen(&survey, flow)? else {
            return Ok(Self {
                survey,
                analysis: None,
            });
        };
        let missing = survey
            .flow(number)
            .filter(|flow| flow.completeness() != Completeness::Whole)
            .map(|flow| (flow.client, flow.server));
        if let Some(ends) = missing
            && path.is_file()
        {
            survey = Survey::of(Reader::open(path)?, limits, Some(ends), listen)?;
        }
        let analysis = survey
            .flow(number)
            .map(|flow| Analysis::of(&survey, flow, view));
        Ok(Self { survey, analysis })
    }

    /// The analysed flow.
    #[must_use]
    pub fn flow(&self) -> Option<&Flow> {
        self.survey.flow(self.analysis.as_ref()?.flow)
    }
}

/// The number of the flow to analyse.
fn chosen(survey: &Survey, flow: Option<u32>) -> Result<Option<u32>, CaptureError> {
    match flow {
        None => Ok(survey.largest().map(|flow| flow.number)),
        Some(number) if survey.flow(number).is_some() => Ok(Some(number)),
        Some(flow) => Err(CaptureError::NoSuchFlow {
            flow,
            flows: survey.flow_count(),
        }),
    }
}
