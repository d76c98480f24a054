import type { ReactNode } from 'react'
import { searchedTexts } from '../../data/filter/filter.ts'
import { listPart } from '../../data/filter/list-address.ts'
import type { ListedRun, OrderedBy } from '../../data/run-pages.ts'
import { Chip } from '../../parts/controls.tsx'
import { columnDuration, countText, shortCount, UNKNOWN } from '../../parts/format/numbers.ts'
import { foundParts } from '../../parts/format/found-parts.ts'
import { previewText } from '../../parts/format/preview-text.ts'
import { microsBetween } from '../../parts/format/times.ts'
import { OutcomeIcon, TypeIcon } from '../../parts/icon.tsx'
import { exactText } from '../../parts/json/json-text.ts'
import { MoneyCell } from '../../parts/money.tsx'
import { Time } from '../../parts/time.tsx'
import { Link } from '../../router/link.tsx'
import { withParams } from '../../router/params.ts'
import { type ColumnId, isColumnId, metadataKey } from './column-ids.ts'
import { Deviation } from './deviation.tsx'
import css from './project.module.css'

export interface RunColumn {
  id: string
  name: string
  /** The text of the head. */
  title: string
  /** Width in pixels. With `share`, this is the minimum, and the column also gets its share of the remaining width. */
  width: number
  share?: number
  isNumber?: boolean
  /** The order of a list after a click on the head of this column. */
  orders?: OrderedBy
  look?: string | undefined
  cell(run: ListedRun): ReactNode
  /** Whether a run has something to show; a column without any in the list is left out. Absent: always shown. */
  has?(run: ListedRun): boolean
}

interface ListedLlm {
  provider?: string | null
  model?: string | null
  tokens_per_second?: number | null
  checks?: Record<string, { ok: boolean } | undefined> | null
}

const CHECKS = ['run_type', 'format', 'model', 'usage'] as const

const llmOf = (run: ListedRun): ListedLlm => run.llm ?? {}

function Verdicts({ checks }: { checks: NonNullable<ListedLlm['checks']> }) {
  const failed = CHECKS.filter((name) => checks[name]?.ok === false)
  const label = failed.length === 0 ? 'All four checks hold' : `Failed: ${failed.join(', ')}`
  return (
    <span className={css['checks']} role="img" aria-label={label} title={label}>
      {CHECKS.map((name) => (
        <span key={name} className={css['dot']} data-ok={checks[name]?.ok !== false} />
      ))}
    </span>
  )
}

function Speed({ run }: { run: ListedRun }) {
  const speed = llmOf(run).tokens_per_second
  return typeof speed === 'number' ? countText(Math.round(speed)) : UNKNOWN
}

/** Feedback such as `correctness 0.5`, one for each key. If a key has several values, their mean is shown. */
function Feedback({ run }: { run: ListedRun }) {
  const stats = (run['feedback_stats'] ?? {}) as Record<string, { n: number; avg: number | null }>
  return Object.entries(stats).map(([key, { n, avg }]) => (
    <Chip key={key} title={`${key}: ${n} given`}>
      {key} {avg === null ? n : Number(avg.toPrecision(3))}
    </Chip>
  ))
}

function valueText(value: unknown): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'string' ? value : exactText(value, 0)
}

/** The texts that the list of the present address searches for. */
function searchedHere(): string[] {
  return searchedTexts(new URLSearchParams(location.search).get('q') ?? '')
}

/**
 * The path of a run in the interface, with the list of the present address, in which it has its neighbours. The trace
 * marks the runs with the first text that the list searches for.
 */
export function pathOf(run: ListedRun): string {
  const list = listPart(location.search)
  const [find = ''] = searchedHere()
  return `/traces/${run.trace_id}${withParams('', { run: run.id, list: list || undefined, find: find || undefined })}`
}

const MUTED = css['muted']

/** A text with the searched words marked; all of it is shown on hover, with its lines. */
function Words({ text, className }: { text: string; className?: string | undefined }) {
  const parts = foundParts(text, searchedHere())
  return (
    <span dir="auto" title={text === '' ? undefined : text} className={className}>
      {parts.map((part, at) => (part.isFound ? <mark key={at}>{part.text}</mark> : part.text))}
    </span>
  )
}

/** The beginning of a payload in words; what the server has of it is shown on hover. */
function Preview({ text }: { text: string | null | undefined }) {
  return <Words text={previewText(text ?? '')} />
}

function failedBelow({ error_runs, status }: ListedRun): number {
  return (error_runs ?? 0) - Number(status === 'error')
}

/** What failed below a run: the names and the number, as a link that selects the first of them. */
function Failed({ run }: { run: ListedRun }) {
  const failed = failedBelow(run)
  if (failed <= 0) return null
  const [first, ...others] = run.failed_names ?? []
  const more = failed - (first === undefined ? 0 : 1)
  return (
    <Link className={css['error']} to={`${pathOf(run)}&failed=on`} title={[first, ...others].join(', ')}>
      {first ?? failed}
      {first !== undefined && more > 0 && ` +${more}`}
    </Link>
  )
}

/** Every column but those of metadata. */
const COLUMNS: Readonly<Record<ColumnId, Omit<RunColumn, 'id'>>> = {
  status: {
    name: '',
    title: 'Status',
    width: 20,
    cell: (run) => <OutcomeIcon status={run.status} error_runs={run.error_runs} />,
  },
  name: {
    name: 'Name',
    title: 'Type and name of the run',
    width: 140,
    share: 1.2,
    look: css['name'],
    cell: (run) => (
      <>
        <TypeIcon type={run.run_type} />
        <Link to={pathOf(run)}>{run.name}</Link>
      </>
    ),
  },
  type: { name: 'Type', title: 'Run type', width: 80, look: MUTED, cell: (run) => run.run_type },
  input: {
    name: 'Input',
    title: 'What was asked: the last text of the user, or the arguments',
    width: 160,
    share: 2.4,
    cell: (run) => <Preview text={run.inputs_preview} />,
    has: (run) => (run.inputs_preview ?? '') !== '',
  },
  output: {
    name: 'Output',
    title: 'What was answered, or the error',
    width: 160,
    share: 2.4,
    look: MUTED,
    cell: (run) =>
      run.error ? (
        <Words text={run.error} className={css['error']} />
      ) : (
        <Preview text={run.outputs_preview} />
      ),
    has: (run) => (run.error ?? '') !== '' || (run.outputs_preview ?? '') !== '',
  },
  failed: {
    name: 'Failed',
    title: 'Runs below it that failed',
    width: 112,
    cell: (run) => <Failed run={run} />,
    has: (run) => failedBelow(run) > 0,
  },
  start: {
    name: 'Start',
    title: 'When it started, in your zone',
    width: 130,
    look: MUTED,
    cell: (run) => <Time time={run.start_time} />,
  },
  latency: {
    name: 'Latency',
    title: 'From start to end',
    width: 76,
    orders: 'latency',
    isNumber: true,
    cell: (run) => columnDuration(microsBetween(run.start_time, run.end_time)),
  },
  deviation: {
    name: 'Deviation',
    title: 'How many times as long as the median of the runs with its name in the last 7 days',
    width: 76,
    isNumber: true,
    cell: (run) => <Deviation run={run} />,
  },
  ttft: {
    name: 'First token',
    title: 'From the start to the first token',
    width: 80,
    isNumber: true,
    cell: (run) => columnDuration(microsBetween(run.start_time, run.first_token_time)),
    has: ({ first_token_time }) => typeof first_token_time === 'string',
  },
  speed: {
    name: 'Tokens/s',
    title: 'Output tokens in a second, from the first token on',
    width: 72,
    isNumber: true,
    cell: (run) => <Speed run={run} />,
  },
  tokens: {
    name: 'Tokens',
    title: 'Prompt and completion tokens, with those of the runs below',
    width: 72,
    orders: 'total_tokens',
    isNumber: true,
    cell: (run) => shortCount(run.total_tokens),
    has: ({ total_tokens }) => (total_tokens ?? 0) > 0,
  },
  prompt: {
    name: 'Prompt',
    title: 'Prompt tokens, with those of the runs below',
    width: 72,
    isNumber: true,
    cell: (run) => shortCount(run.prompt_tokens),
  },
  completion: {
    name: 'Completion',
    title: 'Completion tokens, with those of the runs below',
    width: 80,
    isNumber: true,
    cell: (run) => shortCount(run.completion_tokens),
  },
  cost: {
    name: 'Cost',
    title: 'Dollars, with the cost of the runs below; ≥ where calls without a price are left out',
    width: 88,
    orders: 'total_cost',
    isNumber: true,
    cell: (run) => (
      <MoneyCell value={run.total_cost} estimated={run.estimated_cost} unpriced={run.unpriced_runs} />
    ),
    has: ({ total_cost, unpriced_runs }) => typeof total_cost === 'string' || (unpriced_runs ?? 0) > 0,
  },
  model: {
    name: 'Model',
    title: 'The model that answered',
    width: 120,
    share: 0.4,
    look: MUTED,
    cell: (run) => llmOf(run).model,
    has: (run) => (llmOf(run).model ?? '') !== '',
  },
  provider: {
    name: 'Provider',
    title: 'Who offers the model',
    width: 90,
    look: MUTED,
    cell: (run) => llmOf(run).provider,
  },
  checks: {
    name: 'Checks',
    title: 'Run type, format, model, usage: what a good model call has',
    width: 64,
    cell: (run) => {
      const { checks } = llmOf(run)
      return checks && <Verdicts checks={checks} />
    },
    has: (run) => (llmOf(run).checks ?? undefined) !== undefined,
  },
  tags: {
    name: 'Tags',
    title: 'Tags that the client sent',
    width: 140,
    look: MUTED,
    cell: (run) => run.tags?.join(', '),
  },
  feedback: {
    name: 'Feedback',
    title: 'What was judged, with the mean of the scores',
    width: 160,
    cell: (run) => <Feedback run={run} />,
  },
  thread: {
    name: 'Thread',
    title: 'The thread of its metadata',
    width: 140,
    look: MUTED,
    cell: (run) => run.thread_id,
  },
}

function metadataColumn(id: string, key: string): RunColumn {
  return {
    id,
    name: key,
    title: `Metadata ${key}`,
    width: 120,
    look: MUTED,
    cell: ({ extra }) => valueText((extra?.['metadata'] as Record<string, unknown> | undefined)?.[key]),
  }
}

/** The column of an id: that of a built-in column, or `metadata.KEY`. */
export function columnOf(id: string): RunColumn {
  return isColumnId(id) ? { id, ...COLUMNS[id] } : metadataColumn(id, metadataKey(id) ?? id)
}

const GAP_PX = 12
/** Width of the column for ticks. */
const TICK_PX = 24

/** A width that grows with the size of text; `width` is in pixels at the usual size. */
function rem(width: number): string {
  return `${width / 16}rem`
}

/** Returns the layout of a row: the columns of the grid, and the width below which it scrolls. */
export function layoutOf(columns: readonly RunColumn[]): { template: string; minWidth: string } {
  const parts = columns.map(({ width, share }) =>
    share === undefined ? rem(width) : `minmax(${rem(width)}, ${share}fr)`,
  )
  const widths = columns.reduce((sum, { width }) => sum + width + GAP_PX, 0)
  return { template: `${TICK_PX}px ${parts.join(' ')}`, minWidth: rem(widths + TICK_PX + GAP_PX + 32) }
}
