import { parseTyped } from '../../../api/typed-json.ts'
import { Field, Select } from '../../../parts/controls.tsx'
import type { RunSettings } from '../session.ts'
import css from '../studio.module.css'

type Multitask = NonNullable<RunSettings['multitaskStrategy']>
type Durability = NonNullable<RunSettings['durability']>

/** The strategies for starting a run while another one is active, with their labels. */
export const MULTITASK: readonly (readonly [Multitask, string])[] = [
  ['enqueue', 'Wait for the runs before (enqueue)'],
  ['reject', 'Refuse while a run is active (reject)'],
  ['interrupt', 'End the active run and keep what it reached (interrupt)'],
  ['rollback', 'End the active run and delete it (rollback)'],
]
const DURABILITY: readonly (readonly [Durability, string])[] = [
  ['async', 'Checkpoints beside the next step (async)'],
  ['sync', 'Checkpoints before the next step (sync)'],
  ['exit', 'Only the last checkpoint (exit)'],
]

export interface ChosenSettings {
  multitaskStrategy: Multitask
  durability: Durability
}

function textOf(form: FormData, name: string): string {
  const value = form.get(name)
  return typeof value === 'string' ? value.trim() : ''
}

/** The settings of a run that were typed into the form. @throws JsonFault */
export function typedSettings(form: FormData): RunSettings {
  const [config, context] = [textOf(form, 'config'), textOf(form, 'context')]
  const limit = textOf(form, 'recursion_limit')
  const given = config === '' ? {} : (parseTyped(config, 'Config') as Record<string, unknown>)
  const withLimit = { ...given, ...(limit !== '' && { recursion_limit: Number(limit) }) }
  return {
    ...(Object.keys(withLimit).length > 0 && { config: withLimit }),
    ...(context !== '' && { context: parseTyped(context, 'Context') as Record<string, unknown> }),
  }
}

/** The settings of the next run, folded. */
export function RunSettingsForm({
  chosen,
  change,
}: {
  chosen: ChosenSettings
  change(fields: Partial<ChosenSettings>): void
}) {
  return (
    <details>
      <summary>Settings of the run</summary>
      <div className={css['form']}>
        <label>
          Config, as JSON
          <textarea name="config" rows={2} spellCheck={false} placeholder='{"configurable": {}}' />
        </label>
        <label>
          Context, as JSON
          <textarea name="context" rows={2} spellCheck={false} />
        </label>
        <label>
          Limit of steps
          <Field name="recursion_limit" inputMode="numeric" placeholder="25" />
        </label>
        <Select<Multitask>
          label="While another run is active"
          value={chosen.multitaskStrategy}
          options={MULTITASK}
          onChange={(multitaskStrategy) => change({ multitaskStrategy })}
        />
        <Select<Durability>
          label="Durability"
          value={chosen.durability}
          options={DURABILITY}
          onChange={(durability) => change({ durability })}
        />
      </div>
    </details>
  )
}
