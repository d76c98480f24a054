import { columnMoney, exactMoney, shortMoney, UNKNOWN } from './format/numbers.ts'
import css from './money.module.css'

/**
 * Dollars in a column of a table. An amount that leaves calls without a price out is marked with `≥`, because the true
 * one is at least as high; all digits and the reason are shown on hover.
 */
export function MoneyCell({
  value,
  estimated,
  unpriced,
}: {
  value: string | null | undefined
  estimated?: string | null | undefined
  /** Number of calls without a known cost; undefined or null if that is not known. */
  unpriced?: number | null | undefined
}) {
  const missing = unpriced ?? 0
  const left = `${missing} ${missing === 1 ? 'call has' : 'calls have'} no price`
  if (value === null || value === undefined)
    return (
      <span title={missing > 0 ? left : 'The cost is not known'}>{missing > 0 ? 'no price' : UNKNOWN}</span>
    )
  const isEstimate = estimated !== null && estimated !== undefined && estimated !== '0'
  const parts = [
    exactMoney(value),
    ...(isEstimate ? [`${exactMoney(estimated)} of it from estimated tokens`] : []),
    ...(missing > 0 ? [`without ${missing} ${missing === 1 ? 'call' : 'calls'} that have no price`] : []),
  ]
  return (
    <span title={parts.join(', ')}>
      {isEstimate && <span className={css['mark']}>≈ </span>}
      {missing > 0 ? <LeastMoney value={value} /> : columnMoney(value)}
    </span>
  )
}

/** An amount that is known to be too low: nothing but `no price` where what is known is less than is shown. */
function LeastMoney({ value }: { value: string }) {
  const shown = columnMoney(value)
  if (shown.startsWith('<')) return 'no price'
  return (
    <>
      <span className={css['mark']}>≥ </span>
      {shown}
    </>
  )
}

/** Dollars in three significant digits, with all digits on hover; "–" with the reason when the cost is not known. */
export function Money({
  value,
  estimated,
  unknown = 'The cost is not known',
}: {
  value: string | null | undefined
  /** The part of the amount that is computed from estimated tokens. */
  estimated?: string | null | undefined
  unknown?: string
}) {
  if (value === null || value === undefined) return <span title={unknown}>{UNKNOWN}</span>
  const isEstimate = estimated !== null && estimated !== undefined && estimated !== '0'
  const note = isEstimate ? `, of which ${exactMoney(estimated)} from estimated tokens` : ''
  return (
    <span title={`${exactMoney(value)}${note}`}>
      {isEstimate && '≈ '}
      {shortMoney(value)}
    </span>
  )
}
