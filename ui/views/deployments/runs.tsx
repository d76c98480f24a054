import { useMemo, useState } from 'react'
import {
  type CancelOutcome,
  useBulkCancel,
  useDeploymentList,
  useDeploymentRead,
  type RunCost,
  useGraphNames,
  useRunCosts,
} from '../../data/deployments/contents.ts'
import { runWord, type ThreadRun } from '../../data/deployments/thread-run.ts'
import { wordsOf } from '../../data/deployments/words.ts'
import { usePermission } from '../../data/session.ts'
import { Button, Select } from '../../parts/controls.tsx'
import { Dialog } from '../../parts/forms/dialog.tsx'
import { columnDuration } from '../../parts/format/numbers.ts'
import { previewText } from '../../parts/format/preview-text.ts'
import { microsBetween } from '../../parts/format/times.ts'
import { MoneyCell } from '../../parts/money.tsx'
import { Failure } from '../../parts/states.tsx'
import { Time } from '../../parts/time.tsx'
import { Table, type TableColumn } from '../../parts/table/table.tsx'
import { Link } from '../../router/link.tsx'
import { setParam, useParam } from '../../router/location.ts'
import { wordParam } from '../../router/params.ts'
import { PagedTable } from './contents.tsx'
import css from './deployments.module.css'
import { StudioLink } from './studio-link.tsx'

const STATUSES = [
  ['any', 'Any status'],
  ['pending', 'pending'],
  ['running', 'running'],
  ['success', 'success'],
  ['error', 'error'],
  ['interrupted', 'cancelled'],
  ['timeout', 'timeout'],
] as const

type Status = (typeof STATUSES)[number][0]
const STATUS = wordParam<Status>('status', [
  'any',
  'pending',
  'running',
  'success',
  'error',
  'interrupted',
  'timeout',
])

const OUTCOMES: Readonly<Record<string, string>> = {
  cancelled: 'cancelled before it began',
  cancelling: 'is being cancelled',
  not_active: 'had ended already',
  not_found: 'does not exist',
}

function Outcomes({ outcomes }: { outcomes: readonly CancelOutcome[] }) {
  if (outcomes.length === 0) return <p>No run was active.</p>
  return (
    <Table label="Outcomes" columns={['Run', 'What happened']}>
      {outcomes.map(({ run_id, outcome, status }) => (
        <tr key={run_id}>
          <td>
            <code>{run_id}</code>
          </td>
          <td>
            {OUTCOMES[outcome] ?? outcome}{' '}
            {status !== null && <span className={css['note']}>({status})</span>}
          </td>
        </tr>
      ))}
    </Table>
  )
}

const WHICH = [
  ['all', 'Pending and running'],
  ['pending', 'Pending'],
  ['running', 'Running'],
] as const
const ACTIONS = [
  ['interrupt', 'Keep what they have reached (interrupt)'],
  ['rollback', 'Delete them and their checkpoints (rollback)'],
] as const
type Which = (typeof WHICH)[number][0]
type Action = (typeof ACTIONS)[number][0]

function CancelDialog({ name, close }: { name: string; close(): void }) {
  const [status, setStatus] = useState<Which>('all')
  const [action, setAction] = useState<Action>('interrupt')
  const cancel = useBulkCancel(name)
  return (
    <Dialog title="Cancel runs of all threads" close={close}>
      {cancel.data === undefined ? (
        <form
          className={css['section']}
          onSubmit={(event) => {
            event.preventDefault()
            cancel.mutate({ status, action })
          }}
        >
          <Select<Which> label="Which runs" value={status} options={WHICH} onChange={setStatus} />
          <Select<Action> label="What stays" value={action} options={ACTIONS} onChange={setAction} />
          {cancel.error !== null && <Failure error={cancel.error} />}
          <div>
            <Button type="submit" look="primary" disabled={cancel.isPending}>
              Cancel them
            </Button>
          </div>
        </form>
      ) : (
        <Outcomes outcomes={cancel.data} />
      )}
    </Dialog>
  )
}

const MOST_WAITING = 1000

/** The threads that wait for an answer, as far as the newest 1,000 show. */
function useWaitingThreads(name: string): ReadonlySet<string> {
  const body = { status: 'interrupted', select: ['thread_id'], sort_by: 'updated_at', limit: MOST_WAITING }
  const { data } = useDeploymentRead<{ thread_id: string }[]>(name, '/threads/search', { body, live: true })
  return useMemo(() => new Set(data?.map(({ thread_id }) => thread_id)), [data])
}

function stateLook(status: string, isWaiting: boolean): string | undefined {
  if (status === 'error' || status === 'timeout') return css['bad']
  return isWaiting ? css['waits'] : undefined
}

/** The ids of the newest run of each waiting thread, among runs from the newest to the oldest. */
function waitingRuns(runs: readonly ThreadRun[], waiting: ReadonlySet<string>): ReadonlySet<string> {
  const newest = new Map(runs.toReversed().map(({ thread_id, run_id }) => [thread_id, run_id]))
  return new Set([...newest].flatMap(([thread, run]) => (waiting.has(thread) ? run : [])))
}

const COLUMNS: readonly TableColumn[] = [
  'Input',
  'Status',
  'Graph',
  'Started',
  { name: 'Took', isNumber: true, title: 'From its creation to its end' },
  { name: 'Cost', isNumber: true, title: 'Of its trace, as far as the prices are known' },
  'Trace',
  'Run',
]

/** What a run was given, in words. */
function inputWords({ kwargs = {} }: ThreadRun): string {
  const { input, command } = kwargs
  const resume = (command as { resume?: unknown } | null | undefined)?.resume
  if (resume !== undefined && resume !== null) return `answer: ${previewText(wordsOf(resume))}`
  return previewText(wordsOf(input))
}

const ACTIVE = ['pending', 'running']

function Row({
  name,
  run,
  isWaiting,
  graph,
  cost,
}: {
  name: string
  run: ThreadRun
  isWaiting: boolean
  graph: string | undefined
  /** Undefined before its trace is stored. */
  cost: RunCost | undefined
}) {
  const words = inputWords(run)
  const error = run.weir?.error?.message
  return (
    <tr>
      <td className={`name ${css['words']}`} dir="auto" title={words}>
        <StudioLink name={name} thread={run.thread_id}>
          {words === '' ? 'no input' : words}
        </StudioLink>
      </td>
      <td className={stateLook(run.status, isWaiting)} title={error}>
        {runWord(run.status, isWaiting)}
        {error !== undefined && `: ${error.slice(0, MOST_OF_ERROR)}`}
      </td>
      <td>{graph ?? '–'}</td>
      <td>
        <Time time={run.created_at} />
      </td>
      <td className="number">
        {ACTIVE.includes(run.status) ? '–' : columnDuration(microsBetween(run.created_at, run.updated_at))}
      </td>
      <td className="number">
        <MoneyCell value={cost?.total_cost} unpriced={cost?.unpriced_runs} />
      </td>
      <td>
        <Link to={`/runs/${run.run_id}`}>trace</Link>
      </td>
      <td>
        <code>{run.run_id}</code>
      </td>
    </tr>
  )
}

/** Characters of an error in the list; all of it is shown on hover. */
const MOST_OF_ERROR = 60

/** The runs of all threads of a deployment, newest first. */
export function Runs({ name }: { name: string }) {
  const status = useParam(STATUS)
  const [isCancelling, setCancelling] = useState(false)
  const { isAllowed, reason } = usePermission('threads:update')
  const runs = useDeploymentList<ThreadRun>(name, '/runs/search', status === 'any' ? {} : { status })
  const waiting = useWaitingThreads(name)
  const graphs = useGraphNames(name)
  const rows = runs.data?.pages.flatMap((page) => page.rows) ?? []
  const waits = waitingRuns(rows, waiting)
  const costs = useRunCosts(rows.map(({ run_id }) => run_id))
  return (
    <section className={css['section']}>
      <div className={css['head']}>
        <Select<Status>
          label="Status"
          value={status}
          options={STATUSES}
          onChange={(word) => setParam(STATUS, word)}
        />
        <Button disabled={!isAllowed} title={reason} onClick={() => setCancelling(true)}>
          Cancel many
        </Button>
      </div>
      <PagedTable label="Runs" from={runs} columns={COLUMNS}>
        {(run) => (
          <Row
            key={run.run_id}
            name={name}
            run={run}
            isWaiting={waits.has(run.run_id)}
            graph={graphs.get(run.assistant_id)}
            cost={costs.get(run.run_id)}
          />
        )}
      </PagedTable>
      {isCancelling && <CancelDialog name={name} close={() => setCancelling(false)} />}
    </section>
  )
}
