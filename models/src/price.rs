//! What models cost.

use std::str::FromStr;

/// Prices, in any one currency, for a million tokens. Written `3/15`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    /// Of a question.
    pub input: f64,
    /// Of an answer.
    pub output: f64,
}

/// A text is no price.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "a price is what a million tokens of questions and of answers cost, from 0 up, such as `3/15`"
)]
pub struct PriceError;

impl Price {
    /// What so many tokens cost.
    #[must_use]
    pub fn of(&self, input_tokens: u64, output_tokens: u64) -> f64 {
        const MILLION: f64 = 1e6;
        (input_tokens as f64 * self.input + output_tokens as f64 * self.output) / MILLION
    }
}

impl FromStr for Price {
    type Err = PriceError;

    fn from_str(text: &str) -> Result<Self, PriceError> {
        let (input, output) = text.split_once('/').ok_or(PriceError)?;
        let price = |text: &str| match text.trim().parse::<f64>() {
            Ok(price) if price.is_finite() && price >= 0.0 => Ok(price),
            _ => Err(PriceError),
        };
        Ok(Self {
            input: price(input)?,
            output: price(output)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_is_for_a_million_tokens() {
        let price = Price {
            input: 3.0,
            output: 15.0,
        };
        assert!((price.of(200_000, 1_000) - 0.615).abs() < 1e-12);
    }

    #[test]
    fn a_price_is_two_numbers() {
        assert_eq!(
            "0.25/2".parse(),
            Ok(Price {
                input: 0.25,
                output: 2.0
            })
        );
        for wrong in [
            "", "3", "3/", "/15", "-1/2", "nan/1", "1/inf", "1/2/3", "a/b",
        ] {
            assert_eq!(wrong.parse::<Price>(), Err(PriceError), "{wrong}");
        }
    }
}
