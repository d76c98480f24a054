import { useState } from 'react'
import { useValueOrigin } from '../../../data/studio/history.ts'
import type { ThreadStep } from '../../../data/studio/step.ts'
import { type FoundOrigin, lineOf } from '../../../data/studio/value-origin.ts'
import { Button, Select } from '../../../parts/controls.tsx'
import { Failure } from '../../../parts/states.tsx'
import css from '../studio.module.css'
import { type ShownThread, stepName } from '../thread.ts'

/** Maximum number of fields in the select, because a state may have any number. */
const MOST_FIELDS = 200

/** The names of the fields of a state. */
function fieldsOf(values: unknown): string[] {
  const isObject = typeof values === 'object' && values !== null && !Array.isArray(values)
  return isObject ? Object.keys(values).slice(0, MOST_FIELDS) : []
}

const WORDS: Readonly<Record<FoundOrigin['kind'], string>> = {
  set: 'has its value since',
  first: 'has its value since the first checkpoint,',
  unread: 'has its value at least since the earliest loaded checkpoint,',
}

/** Chooses a field of the selected state, and finds the checkpoint that gave it its value. */
export function ValueOrigin({
  name,
  thread,
  selected,
  shown: { rows, state },
  choose,
}: {
  name: string
  thread: string
  selected: ThreadStep
  shown: Pick<ShownThread, 'rows' | 'state'>
  choose(checkpoint: string): void
}) {
  const fields = fieldsOf(state.data?.values)
  const [wanted, setWanted] = useState('')
  const search = useValueOrigin(name, thread)
  const field = fields.includes(wanted) ? wanted : (fields[0] ?? '')
  if (fields.length === 0) return null
  const find = (): void => {
    const steps = rows.map(({ step }) => step)
    search.mutate({ line: lineOf(steps, selected), field })
  }
  const { data: found } = search
  return (
    <>
      <div className={css['actions']}>
        <Select
          label="Field of the state"
          value={field}
          options={fields.map((one) => [one, one] as const)}
          onChange={setWanted}
        />
        <Button icon="search" disabled={search.isPending} onClick={find}>
          Which step set it?
        </Button>
      </div>
      {search.error !== null && <Failure error={search.error} />}
      {found !== undefined && (
        <p role="status">
          <code>{found.field}</code> {WORDS[found.kind]}{' '}
          <Button look="plain" onClick={() => choose(found.step.checkpoint.checkpoint_id)}>
            {stepName(found.step)}
          </Button>
        </p>
      )}
    </>
  )
}
