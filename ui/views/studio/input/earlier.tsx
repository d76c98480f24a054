import { useState } from 'react'
import type { EarlierInput } from '../../../data/studio/input/earlier-inputs.ts'
import { useEarlierInputs } from '../../../data/studio/run-reads.ts'
import { Loaded } from '../../../parts/states.tsx'
import { Time } from '../../../parts/time.tsx'
import css from '../studio.module.css'

function List({ inputs, choose }: { inputs: readonly EarlierInput[]; choose(input: EarlierInput): void }) {
  if (inputs.length === 0) return <p className={css['note']}>No run had an input yet.</p>
  return (
    <ul className={css['earlier']} tabIndex={0} aria-label="Earlier inputs" data-scrolls="true">
      {inputs.map((one) => (
        <li key={one.run_id}>
          <button type="button" className={css['step']} onClick={() => choose(one)}>
            <code>{one.preview}</code>
            <span className={css['note']}>
              <Time time={one.created_at} />
            </span>
          </button>
        </li>
      ))}
    </ul>
  )
}

/** The inputs of earlier runs of an assistant, to be chosen again. They are read when the list is opened. */
export function EarlierInputs({
  name,
  assistant,
  choose,
}: {
  name: string
  assistant: string
  choose(input: EarlierInput): void
}) {
  const [isOpen, setOpen] = useState(false)
  const inputs = useEarlierInputs(name, assistant, isOpen)
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Earlier inputs</summary>
      {isOpen && (
        <Loaded from={inputs}>
          {(found) => (
            <List
              inputs={found}
              choose={(one) => {
                choose(one)
                setOpen(false)
              }}
            />
          )}
        </Loaded>
      )}
    </details>
  )
}
