/** Parts of a side in the canonical form; kinds of content count cached tokens too. */
type Part = string

/**
 * What a number of a usage object means:
 * - `input`, `output`, `total`: a count of the call. `~input`: used only if no other row gives that side.
 * - `input.cache_read`, `output.reasoning`, …: a part that the side includes. `+input.cache_read`: one that it does not
 *   include. A total in the answer decides against either.
 * - `unit.web_searches`: a number that is no token count.
 * - `condition.speed`: a word or a flag on which the price depends.
 * - `cost.total`, …: dollars. `ticks` are 10^-10 dollars; `fee` is the whole cost unless the user's own key was used;
 *   `client` is an estimate of the client.
 * - `models`: usage by model, as a list or an object whose keys are the models. `parts`: the same for parts of the call.
 * - `nested`: another usage object of the same call.
 * - `unread`: usage of another product, which is reported and not counted.
 * - `ignored`: the number is known and says nothing about the bill.
 * `#` before a role: the length of the list. `?`: only if the object fits no other dialect better, because others use the
 * name for something else. `&`: added to the same number of other rows, whose count does not include it.
 */
export type UsageRole =
  | `${'' | '~' | '#'}${'input' | 'output' | 'total'}`
  | `${'' | '+' | '&'}${'input' | 'output'}.${Part}`
  | `${'' | '#' | '?'}unit.${string}`
  | `condition.${string}`
  | `cost.${'total' | 'fee' | 'upstream' | 'ticks' | 'input' | 'output' | 'client' | 'other'}`
  | 'models'
  | 'parts'
  | 'nested'
  | 'unread'
  | 'ignored'

/** The names that one vendor or framework has for the numbers of its usage objects. */
export interface UsageDialect {
  readonly name: string
  /** The packages, with versions, whose types have these names. */
  readonly source: string
  /** The dialect whose rows these add to or replace. */
  readonly extends?: UsageDialect
  /** Providers that use this dialect. They decide between dialects that a usage object fits equally well. */
  readonly providers?: RegExp
  /** Whether tokens of a total beyond its sides are billed as output. */
  readonly billsGap?: boolean
  /**
   * Roles by path. Names are in snake case, whatever the case of the answer. `{a,b}` stands for either, `$1` in the role
   * for the first choice. `[]` is any item of a list, `*` any key. An item that has a `modality`, `ttl` or `type` has
   * that as its key: `prompt_tokens_details.audio.token_count`.
   */
  readonly rows: Readonly<Record<string, UsageRole | `${string}$${string}`>>
}
