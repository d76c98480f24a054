/** A decimal number without rounding: `units` × 10^-`scale`. */
interface Decimal {
  units: bigint
  scale: number
}

const DECIMAL = /^([+-]?)(\d+)(?:\.(\d*))?(?:[eE]([+-]?\d{1,3}))?$/
const MAX_QUOTIENT_DIGITS = 24

function parse(text: string): Decimal | undefined {
  const match = DECIMAL.exec(text.trim())
  if (match === null) return undefined
  const [, sign = '', whole = '0', part = '', exponent = '0'] = match
  const units = BigInt(`${sign === '-' ? '-' : ''}${whole}${part}`)
  const scale = part.length - Number(exponent)
  return scale >= 0 ? { units, scale } : { units: units * 10n ** BigInt(-scale), scale: 0 }
}

function text({ units, scale }: Decimal): string {
  const sign = units < 0n ? '-' : ''
  const digits = String(units < 0n ? -units : units).padStart(scale + 1, '0')
  const whole = digits.slice(0, digits.length - scale)
  const part = digits.slice(digits.length - scale).replace(/0+$/, '')
  return `${sign}${whole}${part === '' ? '' : `.${part}`}`
}

/** The exact sum of decimal texts; undefined when one of them is no number. */
export function addDecimals(values: readonly string[]): string | undefined {
  let sum: Decimal = { units: 0n, scale: 0 }
  for (const value of values) {
    const next = parse(value)
    if (next === undefined) return undefined
    const scale = Math.max(sum.scale, next.scale)
    const at = ({ units, scale: own }: Decimal): bigint => units * 10n ** BigInt(scale - own)
    sum = { units: at(sum) + at(next), scale }
  }
  return text(sum)
}

/**
 * `amount` / `count`, if the quotient ends within 24 digits; otherwise undefined, because it would have to be rounded.
 */
export function divideDecimal(amount: string, count: number): string | undefined {
  const decimal = parse(amount)
  if (decimal === undefined || !Number.isSafeInteger(count) || count === 0) return undefined
  let { units, scale } = decimal
  const by = BigInt(count)
  for (let digit = 0; digit <= MAX_QUOTIENT_DIGITS; digit += 1) {
    if (units % by === 0n) return text({ units: units / by, scale })
    units *= 10n
    scale += 1
  }
  return undefined
}

/** `value` × 10^`places`: a price per token becomes one per million tokens. */
export function shiftDecimal(value: string, places: number): string | undefined {
  const decimal = parse(value)
  if (decimal === undefined) return undefined
  const scale = decimal.scale - places
  return text(scale >= 0 ? { ...decimal, scale } : { units: decimal.units * 10n ** BigInt(-scale), scale: 0 })
}

/** Rounds a decimal half up to `digits` significant digits, for narrow columns. The exact text must be shown too. */
export function roundDecimal(value: string, digits: number): string | undefined {
  const decimal = parse(value)
  if (decimal === undefined) return undefined
  const size = String(decimal.units < 0n ? -decimal.units : decimal.units).length
  const drop = Math.min(size - digits, decimal.scale)
  if (drop <= 0) return text(decimal)
  const unit = 10n ** BigInt(drop)
  const half = decimal.units < 0n ? -unit / 2n : unit / 2n
  return text({ units: (decimal.units + half) / unit, scale: decimal.scale - drop })
}

/** A decimal with exactly `places` decimals, rounded half up; a text that is no number is returned unchanged. */
export function fixedDecimal(value: string, places: number): string {
  const decimal = parse(value)
  if (decimal === undefined) return value
  const { units, scale } = decimal
  const drop = 10n ** BigInt(Math.max(0, scale - places))
  const rounded = ((units < 0n ? -units : units) + drop / 2n) / drop
  const all = rounded * 10n ** BigInt(Math.max(0, places - scale))
  const digits = String(all).padStart(places + 1, '0')
  const sign = units < 0n && all > 0n ? '-' : ''
  return `${sign}${digits.slice(0, digits.length - places)}.${digits.slice(digits.length - places)}`
}

/** -1, 0 or 1 as `a` is below, equal to or above `b`; texts that are no numbers count as 0. */
export function compareDecimals(a: string, b: string): number {
  const [x, y] = [parse(a) ?? { units: 0n, scale: 0 }, parse(b) ?? { units: 0n, scale: 0 }]
  const scale = Math.max(x.scale, y.scale)
  const difference = x.units * 10n ** BigInt(scale - x.scale) - y.units * 10n ** BigInt(scale - y.scale)
  return difference < 0n ? -1 : Number(difference > 0n)
}

/** `a` − `b`, exactly; undefined when one of them is not a number. */
export function subtractDecimals(a: string, b: string): string | undefined {
  return addDecimals([a, b.startsWith('-') ? b.slice(1) : `-${b}`])
}
