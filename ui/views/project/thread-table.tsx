import { useMemo, useRef } from 'react'
import { type ListedThread, type ThreadQuery, useThreads } from '../../data/threads.ts'
import { Button } from '../../parts/controls.tsx'
import { columnDuration, countText, shortCount } from '../../parts/format/numbers.ts'
import { previewText } from '../../parts/format/preview-text.ts'
import { Icon } from '../../parts/icon.tsx'
import { useRowKeys } from '../../parts/keyboard/row-keys.ts'
import { MoneyCell } from '../../parts/money.tsx'
import { Empty, Failure, Skeleton, StillReading } from '../../parts/states.tsx'
import { Table, type TableColumn } from '../../parts/table/table.tsx'
import { Time } from '../../parts/time.tsx'
import { Link } from '../../router/link.tsx'
import css from './threads.module.css'

const number = (name: string, title: string): TableColumn => ({ name, title, isNumber: true })
const COLUMNS: readonly TableColumn[] = [
  { name: 'Thread', title: 'Id of the thread: thread_id, session_id or conversation_id of the metadata' },
  { name: 'First input', title: 'The beginning of what went into the first turn' },
  { name: 'Last output', title: 'The beginning of what came out of the last turn, or the last error' },
  number('Turns', 'Traces of the thread'),
  number('Last turn', 'When the last turn started'),
  number('p50', 'Median of the time that a turn took'),
  number('p95', '95th percentile of the same'),
  number('Tokens', 'Prompt and completion tokens of all turns'),
  number('Cost', 'Dollars; ≥ where calls without a price are left out'),
]

const micros = (seconds: number | null): number | undefined =>
  seconds === null ? undefined : Math.round(seconds * 1e6)

/** A text in its own direction; all of it is shown on hover. */
function Words({ text, isError = false }: { text: string; isError?: boolean }) {
  return (
    <span dir="auto" title={text || undefined} className={isError ? css['failed'] : undefined}>
      {text}
    </span>
  )
}

function Row({ thread, project }: { thread: ListedThread; project: string }) {
  const { thread_id, num_errored_turns: failed } = thread
  return (
    <tr>
      <td className="name">
        <Link to={`/threads/${encodeURIComponent(thread_id)}?project=${project}`}>{thread_id}</Link>
      </td>
      <td className={css['text']}>
        <Words text={previewText(thread.first_inputs)} />
      </td>
      <td className={css['text']}>
        {thread.last_outputs === '' && thread.last_error !== undefined ? (
          <Words text={thread.last_error} isError />
        ) : (
          <Words text={previewText(thread.last_outputs)} />
        )}
      </td>
      <td className="number">
        {failed > 0 && (
          <span className={css['failed']} title={`${failed} failed`}>
            <Icon name="error" label={`${failed} failed`} /> {failed} of{' '}
          </span>
        )}
        {countText(thread.count)}
      </td>
      <td className="number">
        <Time time={thread.max_start_time} />
      </td>
      <td className="number">{columnDuration(micros(thread.latency_p50))}</td>
      <td className="number">{columnDuration(micros(thread.latency_p95))}</td>
      <td className="number" title={countText(thread.total_tokens)}>
        {shortCount(thread.total_tokens)}
      </td>
      <td className="number">
        <MoneyCell
          value={thread.total_cost === null ? null : String(thread.total_cost)}
          unpriced={thread.unpriced_runs}
        />
      </td>
    </tr>
  )
}

const SNIPPET = 'langsmith_extra={"metadata": {"thread_id": "customer-42"}}'

/** The threads of a project, latest activity first. */
export function ThreadTable({ query }: { query: ThreadQuery }) {
  const { data, error, refetch, hasNextPage, isFetchingNextPage, isPlaceholderData, fetchNextPage } =
    useThreads(query)
  const frame = useRef<HTMLDivElement>(null)
  useRowKeys(frame)
  const threads = useMemo(() => data?.pages.flatMap(({ items }) => items) ?? [], [data])
  if (data === undefined || (isPlaceholderData && threads.length === 0))
    return error === null ? <Skeleton /> : <Failure error={error} retry={() => void refetch()} />
  if (threads.length === 0)
    return (
      <Empty
        title={query.filter === '' && query.since === '' ? 'No thread yet' : 'No thread fits the filter'}
      >
        <p>Traces whose metadata has the same thread_id are the turns of one thread:</p>
        <pre className={css['snippet']} tabIndex={0}>
          {SNIPPET}
        </pre>
      </Empty>
    )
  return (
    <div ref={frame} className={css['view']} aria-busy={isPlaceholderData}>
      {isPlaceholderData && <StillReading />}
      <Table label="Threads" columns={COLUMNS} className={css['threads']}>
        {threads.map((thread) => (
          <Row key={thread.thread_id} thread={thread} project={query.project} />
        ))}
      </Table>
      {hasNextPage && !isPlaceholderData && (
        <p className={css['more']}>
          <Button disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            Show more threads
          </Button>
        </p>
      )}
    </div>
  )
}
