import type { PricePreview, usePricePreview } from '../../data/prices/queries.ts'
import { countText, exactMoney } from '../../parts/format/numbers.ts'
import { Failure } from '../../parts/states.tsx'
import { Time } from '../../parts/time.tsx'
import css from './prices.module.css'

const calls = (count: number): string => `${countText(count)} ${count === 1 ? 'call' : 'calls'}`

function Change({ found }: { found: PricePreview }) {
  const { examined, changed, cost_before, cost_after, unpriced_before, unpriced_after } = found
  if (changed === 0) return <>None of {calls(examined)} would change.</>
  return (
    <>
      {calls(changed)} of {countText(examined)} would change: from <b>{exactMoney(cost_before)}</b> to{' '}
      <b>{exactMoney(cost_after)}</b> in all.
      {unpriced_before > 0 && ` ${calls(unpriced_before)} without a cost now.`}
      {unpriced_after > 0 && ` ${calls(unpriced_after)} without a cost then.`}
    </>
  )
}

/** Shows the effect of a change of prices on stored costs; empty before the preview was requested. */
export function Preview({ asked, range }: { asked: ReturnType<typeof usePricePreview>; range: string }) {
  const { data, error, isPending } = asked
  if (error !== null) return <Failure error={error} />
  if (!isPending && data === undefined) return null
  return (
    <p className={css['note']} role="status">
      {data === undefined ? (
        'Comparing stored costs …'
      ) : (
        <>
          {range} <Change found={data} />
          {data.examined_from !== null && (
            <>
              {' '}
              Only the newest calls were compared, from <Time time={data.examined_from} /> on.
            </>
          )}
        </>
      )}
    </p>
  )
}
