import { useQueries } from '@tanstack/react-query'
import { useEffect, useMemo, useRef, useState } from 'react'
import { conversationsOf, type ConversationStep } from '../../../data/messages/conversation.ts'
import { llmOf } from '../../../data/llm-facts.ts'
import type { Outline } from '../../../data/outline.ts'
import { type ReadRun, runOptions } from '../../../data/runs.ts'
import type { Tree } from '../../../data/tree.ts'
import { Messages } from '../../../parts/chat/messages.tsx'
import { type ToolResults, toolResults } from '../../../parts/chat/tool-results.ts'
import { Button, IconButton, Select } from '../../../parts/controls.tsx'
import { countText, durationText } from '../../../parts/format/numbers.ts'
import { Icon, StatusIcon, TypeIcon } from '../../../parts/icon.tsx'
import { Money } from '../../../parts/money.tsx'
import { readPreference } from '../../../parts/preferences.ts'
import { Empty, Failure, PanelBoundary, Skeleton } from '../../../parts/states.tsx'
import { callOf, knownText, modelCalls, placeConversations, type PlacedConversation } from './calls.ts'
import css from './messages.module.css'

/** Model calls that are read at first, and with each further click. */
const PAGE = 20
/** Tools that a folded step names. */
const MOST_NAMED = 5

interface MessagesViewProps {
  outline: Outline
  tree: Tree
  /** Position of the selected run. */
  selected: number
  select(position: number): void
  share: string | undefined
}

function RunLine({ position, ...props }: MessagesViewProps & { position: number }) {
  const { outline, tree, selected, select } = props
  const place = tree.order[position] ?? 0
  const duration = outline.durations[place]
  const status = outline.statuses[place]
  const isUnpriced =
    outline.types[place] === 'llm' && (outline.tokens[place] ?? 0) > 0 && outline.costs[place] === undefined
  return (
    <button
      type="button"
      className={css['line']}
      data-status={status}
      aria-pressed={position === selected}
      onClick={() => select(position)}
    >
      <TypeIcon type={outline.types[place] ?? ''} />
      <b>{outline.names[place]}</b>
      {status !== 'success' && <StatusIcon status={status} />}
      <span className={css['facts']}>
        {outline.models[place] !== undefined && <span>{outline.models[place]}</span>}
        <span>{durationText(Number.isNaN(duration) ? undefined : duration)}</span>
        {outline.types[place] === 'llm' && <span>{countText(outline.tokens[place])} tokens</span>}
        {(outline.costs[place] !== undefined || isUnpriced) && (
          <Money value={outline.costs[place]} unpriced={Number(isUnpriced)} />
        )}
      </span>
    </button>
  )
}

/** Names of the first tools of a folded step, and lines of those that failed. */
function FoldedTools({ tools, ...props }: MessagesViewProps & { tools: readonly number[] }) {
  const { outline, tree } = props
  const placeOf = (position: number): number => tree.order[position] ?? 0
  const failed = tools.filter((position) => outline.statuses[placeOf(position)] === 'error')
  const names = tools.slice(0, MOST_NAMED).map((position) => outline.names[placeOf(position)])
  return (
    <>
      {names.length > 0 && (
        <p className={css['note']}>
          {names.join(', ')}
          {tools.length > MOST_NAMED && ` and ${countText(tools.length - MOST_NAMED)} more`}
        </p>
      )}
      {failed.map((position) => (
        <RunLine key={position} position={position} {...props} />
      ))}
    </>
  )
}

function StepView({
  step,
  conversation,
  run,
  results,
  isFolded,
  ...props
}: MessagesViewProps & {
  step: ConversationStep
  conversation: PlacedConversation
  run: ReadRun | undefined
  results: ToolResults
  isFolded: boolean
}) {
  const { outline, tree } = props
  const position = tree.positions[outline.ids.indexOf(step.id)] ?? 0
  const isMarkdown = readPreference('text') === 'markdown'
  const tools = conversation.tools.get(step.id) ?? []
  const isOpen = !isFolded || [position, ...tools].includes(props.selected)
  if (!isOpen)
    return (
      <li className={css['step']} data-call={position}>
        <RunLine position={position} {...props} />
        <FoldedTools tools={tools} {...props} />
      </li>
    )
  return (
    <li className={css['step']} data-call={position}>
      <RunLine position={position} {...props} />
      {step.known > 0 && <p className={css['note']}>{knownText(step.known)}</p>}
      <PanelBoundary>
        <Messages messages={step.messages} isMarkdown={isMarkdown} results={results} />
      </PanelBoundary>
      {run?.error !== null && run?.error !== undefined && <pre className={css['error']}>{run.error}</pre>}
      {tools.map((tool) => (
        <RunLine key={tool} position={tool} {...props} />
      ))}
    </li>
  )
}

function ConversationView({
  conversation,
  runs,
  ...props
}: MessagesViewProps & {
  conversation: PlacedConversation
  runs: ReadonlyMap<string, ReadRun>
  isFolded: boolean
}) {
  const results = useMemo(
    () => toolResults(conversation.steps.flatMap(({ messages }) => messages)),
    [conversation],
  )
  return (
    <section className={css['conversation']}>
      {conversation.path.length > 0 && (
        <h2 className={css['path']}>
          {conversation.path.map((name, place) => (
            <span key={place}>
              {place > 0 && <Icon name="open" />}
              {name}
            </span>
          ))}
        </h2>
      )}
      <ol className={css['steps']}>
        {conversation.steps.map((step) => (
          <StepView
            key={step.id}
            step={step}
            conversation={conversation}
            run={runs.get(step.id)}
            results={results}
            {...props}
          />
        ))}
      </ol>
    </section>
  )
}

/** A selected run is followed as far as this model call; all calls before it are read. */
const MOST_FOLLOWED = 400
/** Model calls in the list of steps. */
const MOST_LISTED = 1000

/** The list of steps: which is shown, and the one before and after it. */
function StepIndex({
  calls,
  at,
  outline,
  tree,
  select,
  isFolded,
  fold,
}: Pick<MessagesViewProps, 'outline' | 'tree' | 'select'> & {
  calls: readonly number[]
  at: number
  isFolded: boolean
  fold(): void
}) {
  const to = (place: number): void => {
    const position = calls[place]
    if (position !== undefined) select(position)
  }
  const textOf = (position: number, place: number): string => {
    const run = tree.order[position] ?? 0
    const failed = outline.statuses[run] === 'error' ? ', failed' : ''
    return `${place + 1}. ${outline.names[run] ?? ''}${failed}`
  }
  return (
    <div className={css['index']}>
      <Select
        label="Step"
        value={String(at)}
        options={calls
          .slice(0, MOST_LISTED)
          .map((position, place) => [String(place), textOf(position, place)] as const)}
        onChange={(place) => to(Number(place))}
      />
      <span role="status">
        Step {countText(at + 1)} of {countText(calls.length)}
      </span>
      <IconButton icon="up" label="Step before" disabled={at <= 0} onClick={() => to(at - 1)} />
      <IconButton
        icon="fold"
        label="Next step"
        disabled={at >= calls.length - 1}
        onClick={() => to(at + 1)}
      />
      <Button
        look="plain"
        title={isFolded ? 'Show the messages of all steps' : 'Show only the messages of the selected step'}
        onClick={fold}
      >
        {isFolded ? 'Unfold all' : 'Fold all'}
      </Button>
    </div>
  )
}

/** Brings the line of the selected run into sight once it is drawn, or that of its model call. */
function useFollowing(selected: number, call: number | undefined) {
  const frame = useRef<HTMLDivElement>(null)
  const followed = useRef<number>(undefined)
  useEffect(() => {
    const view = frame.current
    if (view === null || followed.current === selected) return
    const step = view.querySelector(`[data-call="${call}"]`)
    // Until the call is read, its tools stand after an earlier one.
    if (step === null) return
    const line = view.querySelector('[aria-pressed="true"]') ?? step
    followed.current = selected
    const [outer, inner] = [view.getBoundingClientRect(), line.getBoundingClientRect()]
    // Of a long step, its beginning is enough.
    const bottom = Math.min(inner.bottom, inner.top + INDEX_PX)
    if (inner.top < outer.top + INDEX_PX || bottom > outer.bottom) line.scrollIntoView({ block: 'start' })
  })
  return frame
}

/** Height of the list of steps, which stays at the top. */
const INDEX_PX = 36

/** The runs of the first model calls that have been read, without a gap between them. */
function useCalls(ids: readonly string[], share: string | undefined) {
  const reads = useQueries({ queries: ids.map((id) => runOptions(id, share)) })
  const gap = reads.findIndex(({ isLoading }) => isLoading)
  const loaded = (gap < 0 ? reads : reads.slice(0, gap)).flatMap(({ data }) => data ?? [])
  return { loaded, isLoading: gap >= 0, failed: reads.find(({ error }) => error !== null) }
}

/**
 * The model calls of a trace as conversations: every message once, subagents separately, and tool calls in their
 * places. The view follows the selected run.
 */
export function MessagesView(props: MessagesViewProps) {
  const { outline, tree, selected, share } = props
  const [wanted, setWanted] = useState(PAGE)
  const [isFolded, setFolded] = useState(false)
  const positions = useMemo(() => modelCalls(outline, tree), [outline, tree])
  const at = useMemo(() => callOf(selected, positions, outline, tree), [selected, positions, outline, tree])
  const followed = at < MOST_FOLLOWED ? Math.ceil((at + 1) / PAGE) * PAGE : 0
  const shown = Math.max(wanted, followed)
  const ids = positions.slice(0, shown).map((position) => outline.ids[tree.order[position] ?? 0] ?? '')
  const { loaded, isLoading, failed } = useCalls(ids, share)
  const frame = useFollowing(selected, positions[at])
  const runs = new Map(loaded.map((run) => [run.id, run]))
  const calls = loaded.map((run) => {
    const { input, output } = llmOf(run)?.messages ?? {}
    return { id: run.id, input: input ?? [], output: output ?? [] }
  })
  if (positions.length === 0)
    return (
      <Empty title="No model was called in this trace">
        <p>The tree shows its runs with inputs and outputs.</p>
      </Empty>
    )
  if (isLoading && loaded.length === 0) return <Skeleton />
  const conversations = placeConversations(conversationsOf(calls), outline, tree)
  return (
    <div
      ref={frame}
      className={css['view']}
      tabIndex={0}
      role="region"
      aria-label="Messages of the trace"
      data-scrolls="true"
    >
      <StepIndex calls={positions} at={at} isFolded={isFolded} fold={() => setFolded(!isFolded)} {...props} />
      {failed !== undefined && <Failure error={failed.error} retry={() => void failed.refetch()} />}
      {conversations.map((conversation) => (
        <ConversationView
          key={conversation.steps[0]?.id}
          conversation={conversation}
          runs={runs}
          isFolded={isFolded}
          {...props}
        />
      ))}
      {isLoading && <Skeleton />}
      {positions.length > shown && (
        <p className={css['more']}>
          <Button onClick={() => setWanted(shown + PAGE)}>
            Show the next of {countText(positions.length - shown)} model calls
          </Button>
        </p>
      )}
    </div>
  )
}
