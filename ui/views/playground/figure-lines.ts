import type { CallFigures } from '../../data/playground/figures.ts'
import { subtractDecimals } from '../../parts/format/decimal.ts'
import { leastShort } from '../../parts/format/least-money.ts'
import { callsText, countText, durationText, exactMoney, shortMoney } from '../../parts/format/numbers.ts'

/** The difference between a figure and that of the source run; `sign`: the figure is less, more or the same. */
interface Difference {
  text: string
  sign: 'less' | 'more' | 'same'
}

const MINUS = '−'

function differenceOf(now: number | undefined, before: number | undefined, write: (n: number) => string) {
  if (now === undefined || before === undefined) return undefined
  const more = now - before
  if (more === 0) return { text: '±0', sign: 'same' } satisfies Difference
  const sign = more > 0 ? 'more' : 'less'
  return { text: `${more > 0 ? '+' : MINUS}${write(Math.abs(more))}`, sign } satisfies Difference
}

type Cost = Pick<CallFigures, 'cost' | 'unpriced'>

/** Undefined also where one of the costs leaves out calls: the difference of the known parts says nothing. */
function costDifference(now: Cost, before: Cost | undefined): Difference | undefined {
  if (now.cost === undefined || before?.cost === undefined || now.unpriced + before.unpriced > 0)
    return undefined
  const more = subtractDecimals(now.cost, before.cost)
  if (more === undefined) return undefined
  if (more === '0') return { text: '±0', sign: 'same' }
  const isLess = more.startsWith('-')
  return {
    text: (isLess ? MINUS : '+') + shortMoney(isLess ? more.slice(1) : more),
    sign: isLess ? 'less' : 'more',
  }
}

const millis = (ms: number | undefined): string => durationText(ms === undefined ? undefined : ms * 1000)

interface Line {
  title: string
  value: string
  exact?: string
  difference: Difference | undefined
}

/** The lines of the table. */
export function linesOf(own: CallFigures, source: CallFigures | undefined): Line[] {
  const counts = (['input_tokens', 'output_tokens'] as const).map((field) => ({
    title: field === 'input_tokens' ? 'Tokens in' : 'Tokens out',
    value: countText(own[field]),
    difference: differenceOf(own[field], source?.[field], countText),
  }))
  const times = (['first_token_ms', 'duration_ms'] as const).map((field) => ({
    title: field === 'first_token_ms' ? 'First token' : 'Duration',
    value: millis(own[field]),
    difference: differenceOf(own[field], source?.[field], millis),
  }))
  const cost = {
    title: 'Cost',
    value: leastShort(own.cost, own.unpriced),
    exact: own.unpriced > 0 ? `${callsText(own.unpriced)} without a price` : exactMoney(own.cost),
    difference: costDifference(own, source),
  }
  return [...times, ...counts, cost]
}
