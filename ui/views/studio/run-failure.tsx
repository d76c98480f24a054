import type { RunError } from '../../data/studio/run-error.ts'
import { ErrorFacts } from '../../parts/states.tsx'
import css from './studio.module.css'

/** Why the run failed; nothing without an error. */
export function RunFailure({ error }: { error: RunError | undefined }) {
  if (error === undefined) return null
  return (
    <div className={css['bad']} role="alert">
      <p>The run failed: {error.message}</p>
      <ErrorFacts of={error} />
    </div>
  )
}
