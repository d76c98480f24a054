import {
  type DraftColumn,
  type DraftMessage,
  type ProviderName,
  withEntry,
} from '../../data/playground/draft.ts'
import type { PlaygroundState } from '../../data/playground/playground-state.ts'
import { type KnownProvider, useProviders } from '../../data/playground/queries.ts'
import type { ReadRun } from '../../data/runs.ts'
import { usePermission } from '../../data/session.ts'
import { Button, IconButton, Select } from '../../parts/controls.tsx'
import { Failure } from '../../parts/states.tsx'
import { ColumnSettings } from './column-settings.tsx'
import { MissingSecret } from './missing-secret.tsx'
import css from './playground.module.css'
import { OwnPrompt } from './prompt/own-prompt.tsx'
import { Result } from './result.tsx'
import { TypedField } from './typed.tsx'
import { useDraft, useResult } from './use-state.ts'

const PROVIDERS: readonly (readonly [ProviderName, string])[] = [
  ['openai', 'OpenAI'],
  ['anthropic', 'Anthropic'],
  ['google', 'Google'],
  ['openai-compatible', 'OpenAI-compatible'],
]

interface ColumnProps {
  state: PlaygroundState
  column: DraftColumn
  /** Name of the column, such as `Model 1`. */
  name: string
  /** The run from which the draft comes. */
  source: ReadRun | undefined
  isOnly: boolean
  change(fields: Partial<DraftColumn>): void
}

function withFields(state: PlaygroundState, id: string, fields: Partial<DraftColumn>): void {
  state.type((draft) => ({
    ...draft,
    columns: draft.columns.map((one) => (one.id === id ? { ...one, ...fields } : one)),
  }))
}

function withoutColumn(state: PlaygroundState, id: string): void {
  state.stop(id)
  state.change((draft) => ({ ...draft, columns: draft.columns.filter((one) => one.id !== id) }))
}

/** Adds messages to the prompt that a column sends. */
function addToPrompt(state: PlaygroundState, id: string, added: readonly DraftMessage[]): void {
  state.change((draft) => {
    const own = draft.columns.find((one) => one.id === id)?.messages
    if (own === undefined) return { ...draft, messages: [...draft.messages, ...added] }
    const messages = [...own, ...added]
    return { ...draft, columns: withEntry(draft.columns, id, (one) => ({ ...one, messages })) }
  })
}

/** The name of the secret that a call of this column sends. */
function secretOf({ secret }: DraftColumn, provider: KnownProvider | undefined): string {
  return secret.trim() || (provider?.secret ?? '')
}

function RunButton({ state, id, isRunning }: { state: PlaygroundState; id: string; isRunning: boolean }) {
  const { isAllowed, reason } = usePermission('playground:use')
  if (isRunning)
    return (
      <Button icon="close" onClick={() => state.stop(id)}>
        Stop
      </Button>
    )
  return (
    <Button icon="open" disabled={!isAllowed} title={reason} onClick={() => state.run(id)}>
      Run
    </Button>
  )
}

function ModelFields({
  column,
  name,
  models,
  type,
  change,
}: Pick<ColumnProps, 'column' | 'name' | 'change'> & {
  models: readonly string[]
  type(fields: Partial<DraftColumn>): void
}) {
  const list = `models-${column.id}`
  return (
    <>
      <Select<ProviderName>
        label={`${name}, provider`}
        value={column.provider}
        options={PROVIDERS}
        onChange={(provider) => change({ provider, base_url: '', secret: '', provider_name: '' })}
      />
      <TypedField
        label={`${name}, name of the model`}
        placeholder="name of the model"
        list={list}
        text={column.model}
        type={(model) => type({ model })}
      />
      <datalist id={list}>
        {models.map((model) => (
          <option key={model} value={model} />
        ))}
      </datalist>
    </>
  )
}

/** One model with its settings, and its answer. */
export function ModelColumn({ state, column, name, source, isOnly, change }: ColumnProps) {
  const { isAllowed } = usePermission('playground:use')
  const providers = useProviders(isAllowed)
  const provider = providers.data?.find((one) => one.name === column.provider)
  const result = useResult(state, column.id)
  const type = (fields: Partial<DraftColumn>): void => withFields(state, column.id, fields)
  const isMissing =
    column.secret.trim() === '' ? provider?.has_secret === false : result?.problem?.code === 'secret_missing'
  return (
    <section className={css['column']} aria-label={name}>
      <div className={css['columnHead']}>
        <h2>{name}</h2>
        <span className={css['push']} />
        <RunButton state={state} id={column.id} isRunning={result?.state === 'running'} />
        {!isOnly && (
          <IconButton icon="close" label={`Remove ${name}`} onClick={() => withoutColumn(state, column.id)} />
        )}
      </div>
      <div className={css['modelFields']}>
        <ModelFields {...{ column, name, type, change }} models={provider?.models ?? []} />
      </div>
      {providers.error !== null && <Failure error={providers.error} retry={() => void providers.refetch()} />}
      <ColumnSettings
        key={column.provider}
        {...{ column, name, provider, type }}
        tools={useDraft(state).tools}
        left={() => change({})}
        change={change}
      />
      <OwnPrompt state={state} column={column} name={name} change={change} />
      {isMissing && (
        <MissingSecret
          key={secretOf(column, provider)}
          secret={secretOf(column, provider)}
          address={column.base_url || (provider?.base_url ?? '')}
          name={name}
        />
      )}
      {result !== undefined && (
        <Result
          result={result}
          source={source}
          name={name}
          add={(messages) => addToPrompt(state, column.id, messages)}
        />
      )}
    </section>
  )
}
