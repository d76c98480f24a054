import type { JsonValue } from '../../schema/json.ts'
import { estimateInputTokens, estimateOutputTokens, estimateTextTokens } from './estimate.ts'
import type { Countable, Estimator, TokenEstimate } from '../derive/llm.ts'
import type { TokenBudget, Tokenizer } from './tokenizer.ts'

/** Creates estimators that count with `tokenizer`; both sides of a TraceRun share a budget. */
export function createEstimates(tokenizer: Tokenizer): () => Estimator {
  return () => {
    const budget = tokenizer.budget()
    return {
      input: (side) =>
        side.recognised
          ? estimateInputTokens(side.messages, { ...named(side), budget }, tokenizer)
          : unrecognised(side, budget),
      output: (side) =>
        side.recognised
          ? estimateOutputTokens(side.messages, { ...named(side), budget }, tokenizer)
          : unrecognised(side, budget),
    }
  }

  function unrecognised(side: Countable, budget: TokenBudget): TokenEstimate {
    return estimateTextTokens(textOf(side.raw), side.model, side.provider, tokenizer, budget)
  }
}

function named({ model, provider, tools }: Countable) {
  return { model, provider, tools }
}

/** A side of no known format as text: a string unchanged, anything else as JSON. */
function textOf(raw: JsonValue | undefined): string {
  if (raw === undefined || raw === null) return ''
  return typeof raw === 'string' ? raw : JSON.stringify(raw)
}
