import type { ComponentProps } from 'react'
import { ApiError } from '../../api/problem.ts'
import { Chip } from '../controls.tsx'
import css from './fields.module.css'

/** Whether a set-up file manages a record: its list says so, or the server has refused the change (rule TEAM-12). */
export function isManagedBy(managed: boolean | undefined, error: unknown): boolean {
  return managed === true || (error instanceof ApiError && error.code === 'managed_by_file')
}

/** Marks a record that a set-up file manages. */
export function ManagedChip({ managed }: { managed: boolean | undefined }) {
  if (managed !== true) return null
  return <Chip title="A set-up file manages this; see Settings, Set-up">set-up file</Chip>
}

/** Why a change of a managed record is refused, and the field `override` that sends it all the same. */
export function ManagedNote(box: ComponentProps<'input'>) {
  return (
    <div className={`wide ${css['managed']}`}>
      <p>
        A set-up file manages this. Change the file: what is changed here lasts only until the file is applied
        again.
      </p>
      <label>
        <input type="checkbox" name="override" required {...box} /> Change it here all the same
      </label>
    </div>
  )
}
