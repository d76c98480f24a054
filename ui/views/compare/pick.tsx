import { useQuery } from '@tanstack/react-query'
import { likeOptions, type ReadRun } from '../../data/runs.ts'
import { Button, Field } from '../../parts/controls.tsx'
import { durationText } from '../../parts/format/numbers.ts'
import { microsBetween } from '../../parts/format/times.ts'
import { StatusIcon } from '../../parts/icon.tsx'
import { Money } from '../../parts/money.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { previewText } from '../../parts/format/preview-text.ts'
import { Time } from '../../parts/time.tsx'
import css from './compare.module.css'

export function Pick({ run, choose }: { run: ReadRun; choose(id: string): void }) {
  const found = useQuery(likeOptions(run))
  return (
    <section className={css['pick']}>
      <h1>Compare {run.name} with</h1>
      <form
        className={css['byId']}
        onSubmit={(event) => {
          event.preventDefault()
          choose(String(new FormData(event.currentTarget).get('id') ?? '').trim())
        }}
      >
        <Field name="id" required aria-label="Id of a run" placeholder="Id of a run" />
        <Button type="submit">Compare</Button>
      </form>
      <Loaded from={found}>
        {(runs) =>
          runs.length === 0 ? (
            <Empty title="No other run of this name in the project" />
          ) : (
            <ul className={css['likes']}>
              {runs.map((other) => (
                <li key={other.id}>
                  <button type="button" onClick={() => choose(other.id)}>
                    <StatusIcon status={other.status} />
                    <Time time={other.start_time} />
                    <span>{durationText(microsBetween(other.start_time, other.end_time))}</span>
                    <Money value={other.total_cost} unpriced={other.unpriced_runs} />
                    <span className={css['preview']} dir="auto">
                      {previewText(other.inputs_preview ?? '')}
                    </span>
                  </button>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </section>
  )
}
