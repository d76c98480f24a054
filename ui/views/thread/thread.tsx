import { useQueries } from '@tanstack/react-query'
import { useMemo, useRef, useState } from 'react'
import type { Message } from '../../api/messages.ts'
import { toolNamesOf, turnParts } from '../../data/messages/turn-parts.ts'
import { turnsInOrder, turnsOfPages } from '../../data/messages/turns-in-order.ts'
import { useIsHosted } from '../../data/deployments/deployments.ts'
import { useProject } from '../../data/projects/projects.ts'
import { type Turn, turnOptions, useThreadStats, useTurnFeedback, useTurns } from '../../data/threads.ts'
import { Messages } from '../../parts/chat/messages.tsx'
import { type ToolResults, toolResults } from '../../parts/chat/tool-results.ts'
import { Button, Chip } from '../../parts/controls.tsx'
import { countText, durationText } from '../../parts/format/numbers.ts'
import { StatusIcon } from '../../parts/icon.tsx'
import { PlainText } from '../../parts/markdown/markdown.tsx'
import { useRowKeys } from '../../parts/keyboard/row-keys.ts'
import { Money, MoneyCell } from '../../parts/money.tsx'
import { Place } from '../../parts/page/page-head.tsx'
import { readPreference } from '../../parts/preferences.ts'
import { Empty, Failure, PanelBoundary, Skeleton } from '../../parts/states.tsx'
import { previewText } from '../../parts/format/preview-text.ts'
import { Time } from '../../parts/time.tsx'
import { Link } from '../../router/link.tsx'
import { useParam } from '../../router/location.ts'
import type { PathParams } from '../../router/match.ts'
import { textParam } from '../../router/params.ts'
import css from './thread.module.css'

const PROJECT = textParam('project')

const micros = (seconds: number | null | undefined): number | undefined =>
  seconds === null || seconds === undefined ? undefined : Math.round(seconds * 1e6)

const dollars = (cost: number | null | undefined): string | undefined =>
  cost === null || cost === undefined ? undefined : String(cost)

function Head({ project, thread }: { project: string; thread: string }) {
  const { data } = useThreadStats(project, thread)
  const name = useProject(project).data?.name
  const isHosted = useIsHosted(name, thread)
  return (
    <header className={css['head']}>
      <Place label="Place of the thread">
        <Link to={`/projects/${project}?view=threads`}>{name ?? 'Project'}, threads</Link>
      </Place>
      <h1>{thread}</h1>
      <p className={css['facts']}>
        {data !== undefined && (
          <>
            <span>
              turns <b>{countText(data.turns)}</b>
            </span>
            <span>
              p50 <b>{durationText(micros(data.latency_p50_seconds))}</b>
            </span>
            <span>
              p95 <b>{durationText(micros(data.latency_p95_seconds))}</b>
            </span>
            <span>
              tokens <b>{countText(data.total_tokens)}</b>
            </span>
            <span>
              cost{' '}
              <b>
                <Money value={dollars(data.total_cost)} unpriced={data.unpriced_runs} />
              </b>
            </span>
            {typeof data.first_start_time === 'string' && (
              <span>
                since{' '}
                <b>
                  <Time time={data.first_start_time} />
                </b>
              </span>
            )}
          </>
        )}
        {isHosted && (
          <Link to={`/deployments/${encodeURIComponent(name ?? '')}/studio/${thread}`}>Open in Studio</Link>
        )}
      </p>
    </header>
  )
}

interface TurnHeadProps {
  turn: Turn
  /** In the thread, from 0. */
  place: number
  feedback: readonly (readonly [string, string])[]
}

function TurnHead({ turn, place, feedback }: TurnHeadProps) {
  const hasFailed = (turn.error_preview ?? '') !== ''
  const status = hasFailed ? 'error' : turn.end_time === null ? 'pending' : 'success'
  return (
    <h2 className={css['turn']}>
      <StatusIcon status={status} />
      <Link to={`/traces/${turn.trace_id}`}>
        Turn {place + 1} · {turn.name}
      </Link>
      <span className={css['facts']}>
        {turn.start_time !== undefined && <Time time={turn.start_time} />}
        <span>{durationText(micros(turn.latency))}</span>
        <span>{countText(turn.total_tokens)} tokens</span>
        <MoneyCell value={dollars(turn.total_cost)} unpriced={turn.unpriced_runs} />
        {feedback.map(([key, text]) => (
          <Chip key={key} title="Feedback on the turn">
            {key} {text}
          </Chip>
        ))}
      </span>
    </h2>
  )
}

/** Question and answer of a turn; the calls of tools between them are folded. */
function TurnMessages({
  messages,
  ...drawing
}: {
  messages: readonly Message[]
  isMarkdown: boolean
  results: ToolResults
}) {
  const [isOpen, setOpen] = useState(false)
  const { asked, between, answer } = turnParts(messages)
  return (
    <>
      {asked.length > 0 && <Messages messages={asked} {...drawing} />}
      {between.length > 0 && (
        <div>
          <Button
            look="plain"
            icon={isOpen ? 'fold' : 'open'}
            aria-expanded={isOpen}
            onClick={() => setOpen(!isOpen)}
          >
            {toolNamesOf(between) || `${countText(between.length)} messages between`}
          </Button>
        </div>
      )}
      {isOpen && <Messages messages={between} {...drawing} />}
      {answer.length > 0 && <Messages messages={answer} {...drawing} />}
    </>
  )
}

/** A turn without a model call: the beginnings of its inputs and outputs. */
function Previews({ turn }: { turn: Turn }) {
  return (
    <>
      <div>
        <span className={css['role']}>input</span>
        <PlainText text={previewText(turn.inputs_preview ?? '')} />
      </div>
      {(turn.outputs_preview ?? '') !== '' && (
        <div>
          <span className={css['role']}>output</span>
          <PlainText text={previewText(turn.outputs_preview ?? '')} />
        </div>
      )}
    </>
  )
}

/** The turns, each with its messages that the turns before did not have. */
function useNewMessages(turns: readonly Turn[]) {
  const reads = useQueries({ queries: turns.map(turnOptions) })
  const calls = new Map(
    turns.flatMap(({ trace_id }, place) => {
      const call = reads[place]?.data
      return call === undefined ? [] : [[trace_id, call] as const]
    }),
  )
  const loading = new Set(turns.filter((_, place) => reads[place]?.isLoading).map(({ trace_id }) => trace_id))
  const failed = reads.find(({ error }) => error !== null)
  return { shown: turnsInOrder(turns, calls), loading, failed }
}

function Turns({ turns }: { turns: readonly Turn[] }) {
  const { shown, loading, failed } = useNewMessages(turns)
  const feedback = useTurnFeedback(turns)
  const results = toolResults(shown.flatMap(({ messages }) => messages ?? []))
  const isMarkdown = readPreference('text') === 'markdown'
  return (
    <>
      {failed !== undefined && <Failure error={failed.error} retry={() => void failed.refetch()} />}
      <ol className={css['turns']}>
        {shown.map(({ turn, messages }, place) => (
          <li key={turn.trace_id} data-row="">
            <TurnHead {...{ turn, place }} feedback={feedback.get(turn.trace_id) ?? []} />
            <PanelBoundary>
              {loading.has(turn.trace_id) && <Skeleton />}
              {messages !== undefined && <TurnMessages {...{ messages, isMarkdown, results }} />}
              {messages === undefined && !loading.has(turn.trace_id) && <Previews turn={turn} />}
            </PanelBoundary>
            {(turn.error_preview ?? '') !== '' && <pre className={css['error']}>{turn.error_preview}</pre>}
          </li>
        ))}
      </ol>
    </>
  )
}

/** A thread: its traces as the turns of one conversation, oldest first. */
export function Thread({ params }: { params: PathParams }) {
  const thread = params['id'] ?? ''
  const project = useParam(PROJECT)
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useTurns(project, thread)
  const turns = useMemo(() => turnsOfPages(data?.pages ?? []), [data])
  const page = useRef<HTMLDivElement>(null)
  useRowKeys(page)
  if (data === undefined)
    return error === null ? <Skeleton /> : <Failure error={error} heading="h1" retry={() => void refetch()} />
  return (
    <div ref={page} className={css['page']}>
      <Head project={project} thread={thread} />
      {turns.length === 0 ? (
        <Empty title="This thread has no turns">
          <p>Its traces may still be on their way, or were deleted.</p>
        </Empty>
      ) : (
        <Turns turns={turns} />
      )}
      {hasNextPage && (
        <p>
          <Button disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            Show later turns
          </Button>
        </p>
      )}
    </div>
  )
}
