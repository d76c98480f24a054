import type { ReactNode } from 'react'
import { callsText, columnMoney, exactMoney, shortMoney, UNKNOWN } from './format/numbers.ts'
import css from './money.module.css'

interface MoneyProps {
  value: string | null | undefined
  /** The part of the amount that is computed from estimated tokens. */
  estimated?: string | null | undefined
  /** Number of calls without a known cost; undefined or null if that is not known. */
  unpriced?: number | null | undefined
  unknown?: string | undefined
}

/**
 * An amount. One that leaves calls without a price out is marked with `≥`, because the true one is at least as high; all
 * digits and the reason are shown on hover.
 */
function Amount({
  value,
  estimated,
  unpriced,
  unknown = 'The cost is not known',
  text,
}: MoneyProps & { text(value: string): string }): ReactNode {
  const missing = unpriced ?? 0
  const left = `${callsText(missing)} without a price`
  if (value === null || value === undefined)
    return <span title={missing > 0 ? left : unknown}>{missing > 0 ? 'no price' : UNKNOWN}</span>
  const isEstimate = estimated !== null && estimated !== undefined && estimated !== '0'
  const parts = [
    missing > 0 ? `at least ${exactMoney(value)}` : exactMoney(value),
    ...(isEstimate ? [`${exactMoney(estimated)} of it from estimated tokens`] : []),
    ...(missing > 0 ? [left] : []),
  ]
  const shown = text(value)
  // Less than is shown, and too little: nothing is known.
  if (missing > 0 && shown.startsWith('<')) return <span title={parts.join(', ')}>no price</span>
  return (
    <span title={parts.join(', ')}>
      {isEstimate && <span className={css['mark']}>≈ </span>}
      {missing > 0 && <span className={css['mark']}>≥ </span>}
      {shown}
    </span>
  )
}

/** Dollars in a column of a table, with four decimals. */
export function MoneyCell(props: MoneyProps) {
  return <Amount {...props} text={columnMoney} />
}

/** Dollars in three significant digits. */
export function Money(props: MoneyProps) {
  return <Amount {...props} text={shortMoney} />
}
