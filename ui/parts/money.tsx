import { exactMoney, shortMoney, UNKNOWN } from './format/numbers.ts'

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
