import { usePermission } from '../../data/session.ts'
import { useRebuild } from '../../data/usage/queries.ts'
import { Button } from '../../parts/controls.tsx'
import { Failure } from '../../parts/states.tsx'
import { Time } from '../../parts/time.tsx'
import css from './usage.module.css'

/** Builds the reports again from the counted traces. This is needed after a repair of the store. */
export function UsageRebuild() {
  const { last, start } = useRebuild()
  const { isAllowed, reason } = usePermission('organization:manage')
  const { data } = last
  const isRunning = data?.status === 'running'
  return (
    <section className={css['section']} aria-labelledby="rebuild">
      <h2 id="rebuild">Rebuild</h2>
      <p className={css['note']}>
        Builds the reports again from the counted traces. No count changes; it is needed only after a repair
        of the store.
      </p>
      <p className={css['choices']}>
        <Button
          disabled={!isAllowed || isRunning || start.isPending}
          title={isAllowed ? undefined : reason}
          onClick={() => start.mutate()}
        >
          Rebuild the reports
        </Button>
        <span role="status" className={css['note']}>
          {isRunning && 'Running …'}
          {data?.status === 'failed' && `Failed: ${data.error ?? ''}`}
          {data !== undefined && data.finished_at !== null && data.status !== 'failed' && (
            <>
              Done <Time time={data.finished_at} />
            </>
          )}
        </span>
      </p>
      {start.error !== null && <Failure error={start.error} />}
    </section>
  )
}
