import { memo, useMemo, useState } from 'react'
import { parseTyped } from '../../../api/typed-json.ts'
import { type Assistant, drawingPath, useDeploymentRead } from '../../../data/deployments/contents.ts'
import { useThreadChange } from '../../../data/studio/history.ts'
import { uiMessagesOf } from '../../../data/studio/components/ui-messages.ts'
import { type Difference, differencesOf } from '../../../data/studio/state-diff.ts'
import type { FullState } from '../../../data/studio/step.ts'
import { Button, Field, Select } from '../../../parts/controls.tsx'
import { ownNodes } from '../../../parts/graph/fold.ts'
import type { GraphDrawing } from '../../../parts/graph/layout.ts'
import { JsonView } from '../../../parts/json/json-view.tsx'
import { Failure, Loaded } from '../../../parts/states.tsx'
import { Link } from '../../../router/link.tsx'
import type { RunSettings, StudioSession } from '../session.ts'
import { UiComponents } from '../components/ui-components.tsx'
import { changedValues, stateFields, withTyped } from './state-fields.ts'
import { StepTrace } from './step-trace.tsx'
import css from '../studio.module.css'
import { type ShownThread, stepName } from '../thread.ts'
import { ValueOrigin } from './value-origin.tsx'

/** Id of the list of nodes. */
const NODES = 'studio-nodes'

interface StatePanelProps {
  name: string
  assistant: Assistant
  thread: string
  shown: ShownThread
  session: StudioSession
  run: RunSettings
  choose(checkpoint: string): void
  /** Compares with this checkpoint; '' for the parent. */
  compare(checkpoint: string): void
  copied(thread: string): void
}

/** Names of nodes that the field of the node offers. */
function NodeNames({ name, assistant }: Pick<StatePanelProps, 'name' | 'assistant'>) {
  const drawing = useDeploymentRead<GraphDrawing>(name, drawingPath(assistant.assistant_id))
  return (
    <datalist id={NODES}>
      {drawing.data && ownNodes(drawing.data).map((node) => <option key={node} value={node} />)}
    </datalist>
  )
}

/** Lines of a value that are in sight. */
const MOST_LINES = 10

function Editor({
  name,
  assistant,
  thread,
  shown,
  choose,
  close,
}: Omit<StatePanelProps, 'session' | 'run' | 'copied' | 'compare'> & { close(): void }) {
  const change = useThreadChange(name, thread)
  const [fault, setFault] = useState<unknown>()
  const { selected, parent, state } = shown
  const { fields, large } = useMemo(() => stateFields(state.data?.values), [state.data])
  const ran = parent?.tasks.map((task) => task.name) ?? []
  return (
    <form
      className={css['form']}
      aria-label="Edit the state"
      onSubmit={(event) => {
        event.preventDefault()
        const form = new FormData(event.currentTarget)
        try {
          const typed = (name: string): string => String(form.get(`value.${name}`) ?? '')
          const others = parseTyped(String(form.get('values')), 'The change')
          const values = withTyped(changedValues(fields, typed, parseTyped), others)
          const sent = { values, as_node: String(form.get('as_node')), checkpoint: selected?.checkpoint }
          setFault(undefined)
          change.mutate(
            { kind: 'edit', ...sent },
            {
              onSuccess: (id) => {
                choose(id)
                close()
              },
              onError: setFault,
            },
          )
        } catch (error) {
          setFault(error)
        }
      }}
    >
      {fields.map(({ name: field, text, isText }) => (
        <label key={field}>
          {field}
          <textarea
            name={`value.${field}`}
            aria-label={`Value of ${field}`}
            rows={Math.min(MOST_LINES, text.split('\n').length)}
            spellCheck={isText}
            dir="auto"
            defaultValue={text}
          />
        </label>
      ))}
      <p className={css['note']}>
        Only fields that you change are written. A field with a reducer, such as a list of messages, gets what
        you write added by its rule.
        {large.length > 0 && ` Too large to edit here: ${large.join(', ')}.`}
      </p>
      <label>
        Values to write, as JSON
        <textarea name="values" rows={3} spellCheck={false} defaultValue="{}" />
      </label>
      <label>
        As if this node had written them
        <Field name="as_node" list={NODES} defaultValue={ran.length === 1 ? ran[0] : ''} />
      </label>
      <NodeNames name={name} assistant={assistant} />
      {fault !== undefined && <Failure error={fault} />}
      <div className={css['actions']}>
        <Button type="submit" look="primary" disabled={change.isPending}>
          Write as a new branch
        </Button>
        <Button look="plain" onClick={close}>
          Cancel
        </Button>
      </div>
    </form>
  )
}

/** Chooses the checkpoint with which the selected one is compared: its parent, or any other loaded checkpoint. */
const Against = memo(function Against({
  rows,
  selected,
  parent,
  compared,
  compare,
}: Pick<ShownThread, 'rows' | 'selected' | 'parent' | 'compared'> & { compare(checkpoint: string): void }) {
  const others = rows.filter(({ step }) => step !== selected && step !== parent)
  if (others.length === 0) return null
  return (
    <Select
      label="Compared with"
      value={compared === parent ? '' : (compared?.checkpoint.checkpoint_id ?? '')}
      options={[
        ['', 'the step before'],
        ...others.map(
          ({ step, lane }) =>
            [
              step.checkpoint.checkpoint_id,
              `${stepName(step)}${lane > 0 ? `, branch ${lane + 1}` : ''}`,
            ] as const,
        ),
      ]}
      onChange={compare}
    />
  )
})

function Diff({ shown: { state, before, selected, compared } }: { shown: ShownThread }) {
  const [old, now] = [before.data?.values, state.data?.values]
  const differences = useMemo(() => differencesOf(old, now), [old, now])
  if (selected?.parent_checkpoint === null && compared === undefined)
    return <p className={css['note']}>It is the first checkpoint.</p>
  if (state.data === undefined || before.data === undefined) return <p className={css['note']}>Loading …</p>
  if (differences.length === 0) return <p className={css['note']}>No value differs.</p>
  return <Differences differences={differences} />
}

const Differences = memo(function Differences({ differences }: { differences: readonly Difference[] }) {
  return (
    <ul className={css['diff']}>
      {differences.map(({ path, before: old, after }) => (
        <li key={path}>
          <code>{path || 'the whole state'}</code>
          {old !== undefined && (
            <del>
              <JsonView value={old} openDepth={1} />
            </del>
          )}
          {after !== undefined && (
            <ins>
              <JsonView value={after} openDepth={2} />
            </ins>
          )}
        </li>
      ))}
    </ul>
  )
})

const Values = memo(function Values({ values }: { values: unknown }) {
  return <JsonView value={values} openDepth={2} />
})

/** The UI components in the values. They can ask for a run only in the newest state, from which it would begin. */
function Components({
  name,
  assistant,
  thread,
  session,
  shown,
  values,
}: Pick<StatePanelProps, 'name' | 'assistant' | 'thread' | 'session' | 'shown'> & {
  values: FullState['values']
}) {
  const components = useMemo(() => uiMessagesOf(values).shown, [values])
  const { rights, isLoading, submit } = session
  const refusal =
    shown.selected === shown.head ? rights.run : 'It is not the newest state: select that in the timeline.'
  return (
    <UiComponents
      {...{ name, thread, values, isLoading, submit, refusal }}
      graph={assistant.graph_id}
      shown={components}
    />
  )
}

/** One line for each node whose execution from this checkpoint failed, with its error, and the attempt of the run. */
function Failures({ of: { tasks, metadata } }: { of: NonNullable<ShownThread['selected']> }) {
  const attempt = metadata?.run_attempt ?? 1
  return tasks.map(
    ({ id, name, error }) =>
      error !== null && (
        <p key={id} className={css['bad']} role="alert">
          {name} failed{attempt > 1 && ` in attempt ${attempt}`}: {error}
        </p>
      ),
  )
}

interface ActionsProps {
  session: StudioSession
  runFrom(): void
  edit(): void
  copy(): void
}

const BUSY = 'A run is active: wait until it ends, or interrupt it.'

/** What can be done from the selected checkpoint. */
function Actions({ session: { rights, isLoading: isBusy }, runFrom, edit, copy }: ActionsProps) {
  const [noRun, noEdit] = [rights.run, rights.edit].map((reason) => reason ?? (isBusy ? BUSY : undefined))
  return (
    <div className={css['actions']}>
      <Button disabled={noRun !== undefined} title={noRun} onClick={runFrom}>
        Run from here
      </Button>
      <Button icon="edit" disabled={noEdit !== undefined} title={noEdit} onClick={edit}>
        Edit the state
      </Button>
      <Button icon="copy" disabled={rights.copy !== undefined} title={rights.copy} onClick={copy}>
        Copy the thread
      </Button>
    </div>
  )
}

/** The state at the selected checkpoint: what it changed, its values, and what can be done from here. */
export function StatePanel(props: StatePanelProps) {
  const { name, assistant, thread, shown, session, run, choose, compare, copied } = props
  const { selected, state, parent, compared } = shown
  const [edited, edit] = useState<string>()
  const change = useThreadChange(name, thread)
  if (selected === undefined) return null
  const { checkpoint, metadata } = selected
  const runFrom = (): void =>
    session.submit(null, {
      ...run,
      checkpoint: { checkpoint_id: checkpoint.checkpoint_id, checkpoint_ns: '' },
    })
  return (
    <section className={css['panel']} aria-label="State">
      <div className={css['row']}>
        <h2>{stepName(selected)}</h2>
        {metadata?.run_id !== undefined && <Link to={`/runs/${metadata.run_id}`}>Trace of the run</Link>}
      </div>
      {shown.isMissing && (
        <p className={css['warn']} role="status">
          The checkpoint of the address is not in the timeline; this is the newest one.
        </p>
      )}
      <StepTrace name={name} thread={thread} step={selected} />
      <Actions
        session={session}
        runFrom={runFrom}
        edit={() => edit(checkpoint.checkpoint_id)}
        copy={() => change.mutate({ kind: 'copy' }, { onSuccess: copied })}
      />
      {change.error !== null && <Failure error={change.error} />}
      {edited === checkpoint.checkpoint_id && (
        <Editor
          key={`edit ${checkpoint.checkpoint_id}`}
          {...{ name, assistant, thread, shown, choose }}
          close={() => edit(undefined)}
        />
      )}
      <Failures of={selected} />
      <div className={css['row']}>
        <h3>
          {compared === undefined || compared === parent
            ? 'Changed by this step'
            : `Different from ${stepName(compared)}`}
        </h3>
        <Against rows={shown.rows} {...{ selected, parent, compared, compare }} />
      </div>
      <Diff shown={shown} />
      <h3>Values</h3>
      <ValueOrigin
        key={`origin ${checkpoint.checkpoint_id}`}
        {...{ name, thread, selected, shown, choose }}
      />
      <Loaded from={state}>
        {({ values }) => (
          <>
            <Values values={values} />
            <Components {...{ name, assistant, thread, session, shown, values }} />
          </>
        )}
      </Loaded>
    </section>
  )
}
