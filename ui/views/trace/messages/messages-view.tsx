import { useQueries } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { conversationsOf, type ConversationStep } from '../../../data/messages/conversation.ts'
import { llmOf } from '../../../data/llm-facts.ts'
import type { Outline } from '../../../data/outline.ts'
import { type ReadRun, runOptions } from '../../../data/runs.ts'
import type { Tree } from '../../../data/tree.ts'
import { Messages } from '../../../parts/chat/messages.tsx'
import { type ToolResults, toolResults } from '../../../parts/chat/tool-results.ts'
import { Button } from '../../../parts/controls.tsx'
import { countText, durationText } from '../../../parts/format/numbers.ts'
import { Icon, StatusIcon, TypeIcon } from '../../../parts/icon.tsx'
import { Money } from '../../../parts/money.tsx'
import { readPreference } from '../../../parts/preferences.ts'
import { Empty, Failure, PanelBoundary, Skeleton } from '../../../parts/states.tsx'
import { modelCalls, placeConversations, type PlacedConversation } from './calls.ts'
import css from './messages.module.css'

/** Model calls that are read at first, and with each further click. */
const PAGE = 20

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
  return (
    <button
      type="button"
      className={css['line']}
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
        {outline.costs[place] !== undefined && <Money value={outline.costs[place]} />}
      </span>
    </button>
  )
}

function StepView({
  step,
  conversation,
  run,
  results,
  ...props
}: MessagesViewProps & {
  step: ConversationStep
  conversation: PlacedConversation
  run: ReadRun | undefined
  results: ToolResults
}) {
  const { outline, tree } = props
  const position = tree.positions[outline.ids.indexOf(step.id)] ?? 0
  const isMarkdown = readPreference('text') === 'markdown'
  return (
    <li className={css['step']}>
      <RunLine position={position} {...props} />
      {step.known > 0 && <p className={css['note']}>after the {step.known} messages above</p>}
      <PanelBoundary>
        <Messages messages={step.messages} isMarkdown={isMarkdown} results={results} />
      </PanelBoundary>
      {run?.error !== null && run?.error !== undefined && <pre className={css['error']}>{run.error}</pre>}
      {conversation.tools.get(step.id)?.map((tool) => (
        <RunLine key={tool} position={tool} {...props} />
      ))}
    </li>
  )
}

function ConversationView({
  conversation,
  runs,
  ...props
}: MessagesViewProps & { conversation: PlacedConversation; runs: ReadonlyMap<string, ReadRun> }) {
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

/**
 * The model calls of a trace as conversations: every message once, subagents separately, and tool calls in their
 * places.
 */
export function MessagesView(props: MessagesViewProps) {
  const { outline, tree, share } = props
  const [shown, setShown] = useState(PAGE)
  const ids = useMemo(
    () => modelCalls(outline, tree).map((position) => outline.ids[tree.order[position] ?? 0] ?? ''),
    [outline, tree],
  )
  const reads = useQueries({ queries: ids.slice(0, shown).map((id) => runOptions(id, share)) })
  const loaded = reads.flatMap(({ data }) => data ?? [])
  const isLoading = reads.some(({ isLoading: loading }) => loading)
  const failed = reads.find(({ error }) => error !== null)
  const runs = new Map(loaded.map((run) => [run.id, run]))
  const calls = loaded.map((run) => {
    const { input, output } = llmOf(run)?.messages ?? {}
    return { id: run.id, input: input ?? [], output: output ?? [] }
  })
  if (ids.length === 0)
    return (
      <Empty title="No model was called in this trace">
        <p>The tree shows its runs with inputs and outputs.</p>
      </Empty>
    )
  if (isLoading) return <Skeleton />
  const conversations = placeConversations(conversationsOf(calls), outline, tree)
  return (
    <div
      className={css['view']}
      tabIndex={0}
      role="region"
      aria-label="Messages of the trace"
      data-scrolls="true"
    >
      {failed !== undefined && <Failure error={failed.error} retry={() => void failed.refetch()} />}
      {conversations.map((conversation) => (
        <ConversationView
          key={conversation.steps[0]?.id}
          conversation={conversation}
          runs={runs}
          {...props}
        />
      ))}
      {ids.length > shown && (
        <p className={css['more']}>
          <Button onClick={() => setShown(shown + PAGE)}>
            Show the next of {countText(ids.length - shown)} model calls
          </Button>
        </p>
      )}
    </div>
  )
}
