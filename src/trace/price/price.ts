import type { Decimal } from './decimal.ts'

/** Prices of one token of a side, in 10^-18 dollars. */
export interface Rates {
  /** Price of tokens without a detail that has its own price; undefined if unknown. */
  base: Decimal | undefined
  /** Prices by detail key as in usage_metadata: `cache_read`, `audio`, `flex_cache_read`, … */
  details: Readonly<Record<string, Decimal>>
}

export interface Price {
  /** Id of the own entry, or `genai-prices:<provider>/<model>`, with `@<date>` if the price began on a date. */
  price_model_id: string
  input: Rates
  output: Rates
  /** Prices of one unit, in 10^-18 dollars: `web_searches`, `audio_seconds`, … */
  units: Readonly<Record<string, Decimal>>
  /** Per call, in 10^-18 dollars. */
  request: Decimal
  conditions: readonly string[]
}

/** The facts of a call that select its price. */
export interface PriceQuery {
  model: string | undefined
  /** The provider's name in its normalised form (D-15). */
  provider: string | undefined
  /** Start of the call in epoch microseconds, because prices take effect on a date. */
  at: number
  /** Length of the prompt, on which some prices depend. */
  input_tokens: number | undefined
  /** Conditions of the call, as in usage_metadata. */
  conditions?: Readonly<Record<string, string>> | undefined
}

export interface PriceSource {
  /** Finds the price of a call; undefined if it is unknown, even if the call may cost something. */
  find(query: PriceQuery): Price | undefined
}
