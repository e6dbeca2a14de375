//! Prices of models.

use std::str::FromStr;

/// The price of a million tokens, in any one currency. Written `3/15`: 3 for questions, 15 for answers.
///
/// ```
/// use baler_models::Price;
///
/// let price: Price = "3/15".parse()?;
/// assert_eq!(price, Price::new(3.0, 15.0)?);
/// # Ok::<(), baler_models::PriceError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Price {
    /// The price of a million tokens of questions.
    pub input: f64,
    /// The price of a million tokens of answers.
    pub output: f64,
}

/// A price is malformed, or one of its numbers is negative or not finite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected the prices of a million tokens of questions and of answers, each 0 or more, such as `3/15`"
)]
pub struct PriceError;

impl Price {
    /// Sets the prices of a million tokens of questions and of answers.
    ///
    /// # Errors
    /// A price is negative or not finite.
    pub fn new(input: f64, output: f64) -> Result<Self, PriceError> {
        let is_price = |price: f64| price.is_finite() && price >= 0.0;
        if is_price(input) && is_price(output) {
            Ok(Self { input, output })
        } else {
            Err(PriceError)
        }
    }

    /// Returns the cost of this many tokens of questions and of answers.
    #[must_use]
    pub fn cost(&self, input_tokens: u64, output_tokens: u64) -> f64 {
        const MILLION: f64 = 1e6;
        (input_tokens as f64 * self.input + output_tokens as f64 * self.output) / MILLION
    }
}

impl FromStr for Price {
    type Err = PriceError;

    fn from_str(text: &str) -> Result<Self, PriceError> {
        let (input, output) = text.split_once('/').ok_or(PriceError)?;
        let number = |text: &str| text.trim().parse::<f64>().map_err(|_| PriceError);
        Self::new(number(input)?, number(output)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cost_scales_the_price_of_a_million_tokens() {
        let price = Price {
            input: 3.0,
            output: 15.0,
        };
        assert!((price.cost(200_000, 1_000) - 0.615).abs() < 1e-12);
    }

    #[test]
    fn price_parses_two_numbers_and_rejects_everything_else() {
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
