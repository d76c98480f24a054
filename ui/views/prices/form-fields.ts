import type { ModelPriceWrite } from '../../api/platform.gen.ts'
import type { OwnPrice } from '../../data/prices/own-price.ts'
import { shiftDecimal } from '../../parts/format/decimal.ts'
import { isoOfLocal, localText, type Zone } from '../../parts/format/times.ts'

/** The texts of a price's form. Prices are dollars per million tokens. */
export interface PriceFields {
  name: string
  match_pattern: string
  provider: string
  /** The time in the reader's zone, as a field of a form has it; '' for no limit. */
  start_time: string
  prompt_token_threshold: string
  /** A condition and its value in each line, as `speed fast`. */
  conditions: string
  input: string
  output: string
  /** A part and its price in each line, as `cache_read 0.25`. */
  input_parts: string
  output_parts: string
}

type Details = Readonly<Record<string, string | undefined>>

const MILLION_PLACES = 6
const PART = /^(\S+?)[\s:=]+(\S+)$/

/** Converts dollars per token to dollars per million tokens; returns a text that is not a number unchanged. */
export function perMillion(cost: string): string {
  return shiftDecimal(cost, MILLION_PLACES) ?? cost
}

/** Parts of a side with their prices per million tokens. */
export function partsOf(details: Details): (readonly [name: string, price: string])[] {
  return Object.entries(details).flatMap(([name, cost]) =>
    cost === undefined ? [] : [[name, perMillion(cost)] as const],
  )
}

function linesOf(details: Details): string {
  return partsOf(details)
    .map(([name, price]) => `${name} ${price}`)
    .join('\n')
}

/** The initial texts of the form of a price; its times are in the zone `zone`. */
export function fieldsOf(price: OwnPrice, zone: Zone = 'local'): PriceFields {
  return {
    name: price.name,
    match_pattern: price.match_pattern,
    provider: price.provider ?? '',
    start_time: localText(price.start_time ?? '', zone),
    prompt_token_threshold: String(price.prompt_token_threshold ?? ''),
    conditions: Object.entries(price.conditions)
      .map((condition) => condition.join(' '))
      .join('\n'),
    input: perMillion(price.prompt_cost),
    output: perMillion(price.completion_cost),
    input_parts: linesOf(price.prompt_cost_details),
    output_parts: linesOf(price.completion_cost_details),
  }
}

/** The texts for a new price of one model: its pattern matches exactly this name. */
export function fieldsFor(model: string, provider: string): PriceFields {
  return {
    name: model,
    provider,
    start_time: '',
    prompt_token_threshold: '',
    conditions: '',
    match_pattern: model === '' ? '' : `^${model.replace(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)}$`,
    input: '',
    output: '',
    input_parts: '',
    output_parts: '',
  }
}

/** A fault of a form; the message names the price and the fault. */
class PriceFault extends Error {}

function perToken(text: string, name: string): string {
  const cost = shiftDecimal(text.trim(), -MILLION_PLACES)
  if (cost === undefined)
    throw new PriceFault(`${name} is a decimal number such as 0.25, not "${text.trim()}".`)
  return cost
}

/** The names and values of lines; `form` says what a line has. */
function pairsOf(lines: string, form: string): [name: string, value: string][] {
  const used = lines.split('\n').map((one) => one.trim())
  return used.flatMap((line): [string, string][] => {
    if (line === '') return []
    const [, name, value] = PART.exec(line) ?? []
    if (name === undefined || value === undefined)
      throw new PriceFault(`A line has ${form}. This one has not: "${line}"`)
    return [[name, value]]
  })
}

function detailsOf(lines: string): Record<string, string> {
  const pairs = pairsOf(lines, 'a part and its price, as "cache_read 0.25"')
  return Object.fromEntries(pairs.map(([name, price]) => [name, perToken(price, `The price of ${name}`)]))
}

/**
 * The request of a form, or its fault. An unchanged start is sent exactly as it was stored, because the field has only
 * whole seconds.
 */
export function requestOf(
  fields: PriceFields,
  edited?: OwnPrice,
  zone: Zone = 'local',
): { body: ModelPriceWrite } | { fault: string } {
  const { name, match_pattern, provider, start_time, prompt_token_threshold } = fields
  const isSameStart = edited !== undefined && localText(edited.start_time ?? '', zone) === start_time
  try {
    const body = {
      ...(edited !== undefined && { match_path: edited.match_path }),
      name: name.trim(),
      match_pattern,
      provider: provider.trim() || null,
      start_time: isSameStart ? edited.start_time : isoOfLocal(start_time, zone) || null,
      prompt_token_threshold: prompt_token_threshold === '' ? null : Number(prompt_token_threshold),
      conditions: Object.fromEntries(
        pairsOf(fields.conditions, 'a condition and its value, as "speed fast"'),
      ),
      prompt_cost: perToken(fields.input, 'The price of input'),
      completion_cost: perToken(fields.output, 'The price of output'),
      prompt_cost_details: detailsOf(fields.input_parts),
      completion_cost_details: detailsOf(fields.output_parts),
    }
    return { body }
  } catch (error) {
    if (error instanceof PriceFault) return { fault: error.message }
    throw error
  }
}

/** The prices whose name, pattern or provider contains the text, in any case. */
export function searched(prices: readonly OwnPrice[], text: string): OwnPrice[] {
  const wanted = text.trim().toLowerCase()
  return prices.filter(({ name, match_pattern, provider }) =>
    [name, match_pattern, provider ?? ''].some((one) => one.toLowerCase().includes(wanted)),
  )
}
