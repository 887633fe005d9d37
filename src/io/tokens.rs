//! Words of a text, with the lines they are on.

use super::ReadError;

/// Walks through a text word by word and remembers the line for error messages.
pub(super) struct Tokens<'a> {
    file: &'a str,
    rest: &'a str,
    line: usize,
    comment: Option<char>,
}

impl<'a> Tokens<'a> {
    /// `file` is the name used in messages; what follows `comment` on a line is skipped.
    pub fn new(text: &'a str, file: &'a str, comment: Option<char>) -> Self {
        Self {
            file,
            rest: text,
            line: 1,
            comment,
        }
    }

    /// The line of the word read last.
    pub fn line(&self) -> usize {
        self.line
    }

    /// An error at the current line.
    pub fn error(&self, problem: impl Into<String>) -> ReadError {
        ReadError::Syntax {
            file: self.file.to_owned(),
            line: self.line,
            problem: problem.into(),
        }
    }

    fn skip_space(&mut self) {
        loop {
            let next = self.rest.chars().next();
            if next.is_some() && next == self.comment {
                self.rest = &self.rest[self.rest.find('\n').unwrap_or(self.rest.len())..];
            } else if let Some(space) = next.filter(|next| next.is_whitespace()) {
                // The newline that ends the text starts no line of its own.
                if space == '\n' && self.rest.len() > 1 {
                    self.line += 1;
                }
                self.rest = &self.rest[space.len_utf8()..];
            } else {
                return;
            }
        }
    }

    fn take(&mut self, end: usize) -> &'a str {
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    /// The next word; `None` at the end of the text.
    pub fn next(&mut self) -> Option<&'a str> {
        self.skip_space();
        let comment = self.comment;
        let ends = |letter: char| letter.is_whitespace() || Some(letter) == comment;
        let end = self.rest.find(ends).unwrap_or(self.rest.len());
        (end > 0).then(|| self.take(end))
    }

    /// The next word without consuming it.
    pub fn peek(&mut self) -> Option<&'a str> {
        let (rest, line) = (self.rest, self.line);
        let word = self.next();
        (self.rest, self.line) = (rest, line);
        word
    }

    /// The next word; an error that names what was `expected` at the end of the text.
    pub fn word(&mut self, expected: &str) -> Result<&'a str, ReadError> {
        self.next().ok_or_else(|| {
            self.error(format!(
                "the file ends where {expected} was expected; is it cut off?"
            ))
        })
    }

    /// The next word, which must be `keyword` in upper or lower case.
    pub fn keyword(&mut self, keyword: &str) -> Result<(), ReadError> {
        let word = self.word(&format!("`{keyword}`"))?;
        if word.eq_ignore_ascii_case(keyword) {
            return Ok(());
        }
        Err(self.error(format!("expected `{keyword}`, found `{}`", shortened(word))))
    }

    /// The next word as a finite number.
    pub fn real(&mut self, expected: &str) -> Result<f64, ReadError> {
        let word = self.word(expected)?;
        let value = word.parse::<f64>();
        let value = value
            .map_err(|_| self.error(format!("expected {expected}, found `{}`", shortened(word))))?;
        if value.is_finite() {
            return Ok(value);
        }
        Err(self.error(format!(
            "{expected} must be finite, found `{}`",
            shortened(word)
        )))
    }

    /// The next three words as a position.
    pub fn position(&mut self) -> Result<nalgebra::Vector3<f64>, ReadError> {
        Ok([
            self.real("a coordinate")?,
            self.real("a coordinate")?,
            self.real("a coordinate")?,
        ]
        .into())
    }

    /// The next word as a number that is not negative: a count, a code, or the number of a vertex.
    pub fn integer(&mut self, expected: &str) -> Result<u64, ReadError> {
        let word = self.word(expected)?;
        word.parse().map_err(|_| {
            self.error(format!(
                "expected {expected} (a whole number, not negative), found `{}`",
                shortened(word)
            ))
        })
    }

    /// The next word as a count.
    pub fn count(&mut self, expected: &str) -> Result<usize, ReadError> {
        let value = self.integer(expected)?;
        usize::try_from(value).map_err(|_| self.error(format!("{expected} is too large: {value}")))
    }

    /// The next four words as the numbers of vertices.
    pub fn corners(&mut self) -> Result<[u64; 4], ReadError> {
        let mut corners = [0; 4];
        for corner in &mut corners {
            *corner = self.integer("the number of a vertex")?;
        }
        Ok(corners)
    }

    /// What is left of the line, without comment.
    pub fn rest_of_line(&mut self) -> &'a str {
        let end = self.rest.find('\n').unwrap_or(self.rest.len());
        let line = self.take(end);
        let end = self.comment.and_then(|comment| line.find(comment));
        line[..end.unwrap_or(line.len())].trim()
    }

    /// Moves past the end of the current line, if it is all that is left of it.
    pub fn skip_line_end(&mut self) {
        if let Some(rest) = self.rest.strip_prefix('\n') {
            self.rest = rest;
            self.line += 1;
        }
    }

    /// Whether the line after the current one is empty, or there is none. The current line must have been read to its end.
    pub fn next_line_is_empty(&self) -> bool {
        self.rest
            .split('\n')
            .nth(1)
            .is_none_or(|line| line.trim().is_empty())
    }

    /// Nothing may follow on this line.
    pub fn end_of_line(&mut self, after: &str) -> Result<(), ReadError> {
        match self.rest_of_line() {
            "" => Ok(()),
            extra => Err(self.error(format!(
                "expected the end of the line after {after}, found `{}`",
                shortened(extra)
            ))),
        }
    }

    /// Room to reserve for `count` items: no more than the rest of the text can hold, whatever a file claims.
    pub fn capacity(&self, count: usize) -> usize {
        count.min(self.rest.len() / 2 + 1)
    }
}

/// A word that fits into a message.
pub(super) fn shortened(word: &str) -> String {
    match word.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", &word[..end]),
        None => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message<T>(result: Result<T, ReadError>) -> String {
        match result {
            Ok(_) => String::new(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn words_know_their_lines() {
        let mut tokens = Tokens::new("one # not this\r\n\r\n two three#\nfour\n", "f", Some('#'));
        let mut words = Vec::new();
        while let Some(word) = tokens.next() {
            words.push((word, tokens.line()));
        }
        assert_eq!(words, [("one", 1), ("two", 3), ("three", 3), ("four", 4)]);
        assert_eq!(
            message(tokens.word("more")),
            "f:4: the file ends where more was expected; is it cut off?"
        );
    }

    #[test]
    fn numbers_are_checked() {
        let mut tokens = Tokens::new("1e3 nan -1 x 99999999999999999999", "f", None);
        assert_eq!(tokens.real("a length").unwrap(), 1000.0);
        assert_eq!(
            message(tokens.real("a length")),
            "f:1: a length must be finite, found `nan`"
        );
        assert!(message(tokens.integer("a count")).contains("not negative"));
        assert!(message(tokens.real("a length")).contains("expected a length, found `x`"));
        assert!(message(tokens.count("a count")).contains("found `99999999999999999999`"));
    }

    #[test]
    fn peek_consumes_nothing() {
        let mut tokens = Tokens::new("\n\na", "f", None);
        assert_eq!((tokens.peek(), tokens.line()), (Some("a"), 1));
        assert_eq!((tokens.next(), tokens.line()), (Some("a"), 3));
        assert_eq!(tokens.peek(), None);
    }

    #[test]
    fn huge_counts_reserve_no_more_than_the_text_can_fill() {
        assert_eq!(Tokens::new("1 2 3", "f", None).capacity(usize::MAX), 3);
    }

    #[test]
    fn rest_of_line_stops_at_the_line() {
        let mut tokens = Tokens::new("a b c # d\ne", "f", Some('#'));
        tokens.next();
        assert_eq!(tokens.rest_of_line(), "b c");
        assert_eq!(tokens.next(), Some("e"));
        assert!(tokens.end_of_line("e").is_ok());
        assert!(tokens.end_of_line("e").is_ok());
    }

    #[test]
    fn long_words_are_shortened_in_messages() {
        assert_eq!(shortened(&"ä".repeat(50)).chars().count(), 41);
    }
}
