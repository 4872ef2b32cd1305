//! The assertions of a script's Python: `assert a == b, message`, over numbers and names.

/// A value.
type Value = f64;

/// Result of a block of code.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// Every assertion holds.
    Holds,
    /// An assertion fails, with the values of its names.
    Fails(String),
    /// Code other than assertions over numbers.
    Unsupported(String),
}

/// Runs `code`; `lookup` gives the value of a name.
pub fn run(code: &str, lookup: &dyn Fn(&str) -> Option<Value>) -> Outcome {
    let mut assigned: Vec<(String, Value)> = Vec::new();
    for statement in code.split(['\n', ';']) {
        let statement = statement.split('#').next().unwrap_or_default();
        // A trailing backslash continues a statement on the next line.
        let statement = statement.trim().trim_end_matches('\\').trim_end();
        if statement.is_empty() || statement.starts_with("print") || statement == "pass" {
            continue;
        }
        let known = |name: &str| {
            let own = assigned.iter().rev().find(|(own, _)| own == name);
            own.map(|(_, value)| *value).or_else(|| lookup(name))
        };
        let (text, assigns) = match (statement.strip_prefix("assert"), statement.split_once('=')) {
            (Some(text), _) => (text, None),
            (None, Some((name, text))) if is_name(name.trim()) && !text.starts_with('=') => {
                (text, Some(name.trim().to_owned()))
            }
            _ => return Outcome::Unsupported(format!("the code {statement:?}")),
        };
        let mut parser = Parser {
            tokens: tokens(text),
            at: 0,
            lookup: &known,
            unknown: None,
            seen: Vec::new(),
        };
        let value = parser.disjunction();
        if let Some(name) = parser.unknown {
            return Outcome::Unsupported(name);
        }
        let ended = matches!(
            parser.tokens.get(parser.at).map(String::as_str),
            None | Some(",")
        );
        match (value, assigns) {
            (Some(value), Some(name)) if ended => assigned.push((name, value)),
            (Some(value), None) if ended => {
                if value == 0.0 {
                    let seen: Vec<_> = parser
                        .seen
                        .iter()
                        .map(|(name, value)| format!("{name} = {value}"))
                        .collect();
                    return Outcome::Fails(format!("{statement}: {}", seen.join(", ")));
                }
            }
            _ => return Outcome::Unsupported(format!("the code {statement:?}")),
        }
    }
    Outcome::Holds
}

fn is_name(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
}

fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = if first.is_ascii_alphanumeric() || first == '_' || first == '.' {
            rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.'))
                .unwrap_or(rest.len())
        } else if ["==", "!=", "<=", ">=", "//", "<<", ">>"]
            .iter()
            .any(|operator| rest.starts_with(operator))
        {
            2
        } else {
            first.len_utf8()
        };
        tokens.push(rest[..length].to_owned());
        rest = rest[length..].trim_start();
    }
    tokens
}

/// Recursive descent in the order of Python's precedences. True is one, false zero.
struct Parser<'a> {
    tokens: Vec<String>,
    at: usize,
    lookup: &'a dyn Fn(&str) -> Option<Value>,
    unknown: Option<String>,
    seen: Vec<(String, Value)>,
}

const fn truth(value: bool) -> Value {
    if value { 1.0 } else { 0.0 }
}

impl Parser<'_> {
    fn peek(&self) -> &str {
        self.tokens.get(self.at).map_or("", String::as_str)
    }

    fn take(&mut self, token: &str) -> bool {
        let found = self.peek() == token;
        self.at += usize::from(found);
        found
    }

    fn disjunction(&mut self) -> Option<Value> {
        let mut value = self.conjunction()?;
        while self.take("or") {
            let other = self.conjunction()?;
            value = truth(value != 0.0 || other != 0.0);
        }
        Some(value)
    }

    fn conjunction(&mut self) -> Option<Value> {
        let mut value = self.negation()?;
        while self.take("and") {
            let other = self.negation()?;
            value = truth(value != 0.0 && other != 0.0);
        }
        Some(value)
    }

    fn negation(&mut self) -> Option<Value> {
        if self.take("not") {
            return Some(truth(self.negation()? == 0.0));
        }
        self.comparison()
    }

    /// `a < b < c` holds if each holds.
    fn comparison(&mut self) -> Option<Value> {
        let mut left = self.bits()?;
        let mut compared = None;
        loop {
            let operator = self.peek().to_owned();
            if !matches!(operator.as_str(), "==" | "!=" | "<" | "<=" | ">" | ">=") {
                return Some(compared.unwrap_or(left));
            }
            self.at += 1;
            let right = self.bits()?;
            let holds = match operator.as_str() {
                "==" => (left - right).abs() < f64::EPSILON,
                "!=" => (left - right).abs() >= f64::EPSILON,
                "<" => left < right,
                "<=" => left <= right,
                ">" => left > right,
                _ => left >= right,
            };
            let before = compared.unwrap_or(1.0);
            compared = Some(truth(holds && before != 0.0));
            left = right;
        }
    }

    fn bits(&mut self) -> Option<Value> {
        let mut value = self.sum()?;
        loop {
            let operator = self.peek().to_owned();
            if !matches!(operator.as_str(), "&" | "|" | "<<" | ">>") {
                return Some(value);
            }
            self.at += 1;
            let other = self.sum()?;
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_precision_loss,
                reason = "options and flags are small"
            )]
            {
                let (left, right) = (value as i64, other as i64);
                value = match operator.as_str() {
                    "&" => left & right,
                    "|" => left | right,
                    "<<" => left.checked_shl(u32::try_from(right).ok()?)?,
                    _ => left.checked_shr(u32::try_from(right).ok()?)?,
                } as f64;
            }
        }
    }

    fn sum(&mut self) -> Option<Value> {
        let mut value = self.product()?;
        loop {
            if self.take("+") {
                value += self.product()?;
            } else if self.take("-") {
                value -= self.product()?;
            } else {
                return Some(value);
            }
        }
    }

    fn product(&mut self) -> Option<Value> {
        let mut value = self.atom()?;
        loop {
            if self.take("*") {
                value *= self.atom()?;
            } else if self.take("//") {
                value = (value / self.atom()?).floor();
            } else if self.take("/") {
                value /= self.atom()?;
            } else if self.take("%") {
                value %= self.atom()?;
            } else {
                return Some(value);
            }
        }
    }

    fn atom(&mut self) -> Option<Value> {
        if self.take("(") {
            let value = self.disjunction()?;
            return self.take(")").then_some(value);
        }
        if self.take("-") {
            return Some(-self.atom()?);
        }
        let token = self.peek().to_owned();
        let first = token.chars().next()?;
        self.at += 1;
        if first.is_ascii_digit() || first == '.' {
            return match token.strip_prefix("0x") {
                Some(digits) => i64::from_str_radix(digits, 16)
                    .ok()
                    .and_then(|value| i32::try_from(value).ok())
                    .map(f64::from),
                None => token.parse().ok(),
            };
        }
        if !(first.is_ascii_alphabetic() || first == '_') {
            return None;
        }
        match (self.lookup)(&token) {
            Some(value) => {
                self.seen.push((token, value));
                Some(value)
            }
            None => {
                self.unknown.get_or_insert(token);
                Some(0.0)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lookup(name: &str) -> Option<f64> {
        match name {
            "tcpi_snd_cwnd" => Some(10.0),
            "tcpi_rtt" => Some(100_123.0),
            _ => None,
        }
    }

    /// Values by Python itself.
    #[test]
    fn agrees_with_python() {
        for (code, holds) in [
            ("assert tcpi_snd_cwnd == 10, tcpi_snd_cwnd", true),
            ("assert tcpi_snd_cwnd != 10", false),
            ("assert 990 <= 1000 <= 1010", true),
            ("assert 3 > 2 > 2", false),
            ("assert 2 + 3 * 4 == 14 and not 1 == 2", true),
            ("assert (7 // 2) * 2 + 7 % 2 == 7", true),
            ("assert 1 == 2 or tcpi_rtt > 1e5, 'slow'", true),
            ("assert (5 & 4) == 4", true),
            ("a = 0x7fffffff\nassert a == 2147483647", true),
            ("print(tcpi_rtt)\n  assert -1 < 0  # a comment", true),
        ] {
            let outcome = run(code, &lookup);
            assert_eq!(outcome == Outcome::Holds, holds, "{code}: {outcome:?}");
        }
    }

    #[test]
    fn says_what_it_cannot_do() {
        assert_eq!(
            run("assert tcpi_nothing == 1", &lookup),
            Outcome::Unsupported("tcpi_nothing".to_owned())
        );
        assert!(matches!(run("import os", &lookup), Outcome::Unsupported(_)));
        assert!(matches!(run("assert (1", &lookup), Outcome::Unsupported(_)));
        let Outcome::Fails(message) = run("assert tcpi_snd_cwnd == 11", &lookup) else {
            panic!("it does not hold");
        };
        assert!(message.contains("tcpi_snd_cwnd = 10"), "{message}");
    }
}
