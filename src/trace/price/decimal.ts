/** An amount of money as an exact number of 10^-18 dollars, as in `Decimal(38, 18)`. */
export type Decimal = bigint

const SCALE = 18
const UNIT = 10n ** BigInt(SCALE)
/**
 * Maximum amount, 10^18 dollars; a higher amount is a mistake. A sum of several such amounts still fits into
 * Decimal(38, 18).
 */
const LIMIT = 10n ** 36n
const NUMBER = /^([+-]?)(\d+)(?:\.(\d*))?(?:[eE]([+-]?\d{1,4}))?$/

/**
 * Parses a decimal exactly from a JSON number or a string (`1.1e-6`, `"0.0015"`). Digits below 10^-18 are rounded, half
 * to even. Undefined for any other value, and for amounts beyond 10^18.
 */
export function parseDecimal(value: unknown): Decimal | undefined {
  if (typeof value !== 'number' && typeof value !== 'string') return undefined
  const match = NUMBER.exec(String(value).trim())
  if (!match || match[2]!.length > 40 || (match[3]?.length ?? 0) > 400) return undefined
  const fraction = match[3] ?? ''
  const exponent = Number(match[4] ?? 0) + SCALE - fraction.length
  if (exponent > 60) return undefined
  const digits = BigInt(match[2]! + fraction)
  const scaled =
    exponent >= 0 ? digits * 10n ** BigInt(exponent) : divide(digits, 10n ** BigInt(Math.min(-exponent, 500)))
  if (scaled >= LIMIT) return undefined
  return match[1] === '-' ? -scaled : scaled
}

/** `value / by`, rounded half to even; `by` is above 0. */
export function divide(value: Decimal, by: bigint): Decimal {
  const size = value < 0n ? -value : value
  const whole = size / by
  const twice = (size % by) * 2n
  const isUp = twice > by || (twice === by && whole % 2n === 1n)
  const rounded = isUp ? whole + 1n : whole
  return value < 0n ? -rounded : rounded
}

/** `1.1e-6` dollars as `0.0000011`: no exponent, no trailing zeros. */
export function formatDecimal(value: Decimal): string {
  const sign = value < 0n ? '-' : ''
  const size = value < 0n ? -value : value
  const fraction = (size % UNIT).toString().padStart(SCALE, '0').replace(/0+$/, '')
  return `${sign}${size / UNIT}${fraction === '' ? '' : `.${fraction}`}`
}
