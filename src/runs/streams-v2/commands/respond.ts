import { createHash } from 'node:crypto'
import { isObject, type JsonObject, type JsonValue } from '../../../schema/json.ts'
import type { Run, Thread } from '../../model.ts'
import type { Call, Runs } from '../../runs.ts'
import type { Threads } from '../../threads/threads.ts'
import { answeredIds, waitingInterrupts } from '../interrupts.ts'
import type { ReadDeps } from './kept-events.ts'
import { ifFound, Refused } from './refused.ts'
import { requestedIds } from './requested-ids.ts'
import { createRun, type StartDeps, unlessOvertaken } from './start-run.ts'

export interface AnswerDeps extends ReadDeps {
  runs: Pick<Runs, 'recent'>
  threads: Pick<Threads, 'get'>
}

/** A planned run that gives the answers: its id, and the assistant of the interrupted run (V-10). */
export interface Answering {
  assistant_id: JsonValue | undefined
  /**
   * The newest run of the thread when the answers were planned; null: there was none. If another run is created after
   * it, the answering run is refused.
   */
  newest_run_id: string | null
  /** Simultaneous answers to the same interrupts have the same id, so that they make one run (V-12). */
  run_id: string
}

/** Carries out `input.respond`: creates one run that gives the answers (V-10 to V-13). */
export async function respond(
  deps: StartDeps & AnswerDeps,
  call: Call,
  thread_id: string,
  params: JsonObject,
): Promise<void> {
  deps.assertMay('threads:update')
  const { update, goto, config, metadata, strict_resume } = params
  const resume = answersOf(params)
  if (resume === undefined)
    throw new Refused('invalid_argument', 'input.respond needs interrupt_id and response, or responses.')
  const given = {
    command: { resume, ...(update !== undefined && { update }), ...(goto !== undefined && { goto }) },
    ...(config !== undefined && { config }),
    ...(metadata !== undefined && { metadata }),
  }
  await unlessOvertaken(async () => {
    const planned = await ifFound(planAnswers(deps, call, thread_id, resume))
    if (planned === undefined) throw noInterrupt(Object.keys(resume)[0] ?? '')
    if ('unknown' in planned) throw noInterrupt(planned.unknown)
    const { newest_run_id, ...named } = planned
    const options = { newest_run_id, ...(strict_resume === true && { strict_resume }) }
    await createRun(deps, call, thread_id, { ...named, ...given }, options)
  })
}

function noInterrupt(id: string): Refused {
  return new Refused('no_such_interrupt', `No interrupt ${id} waits for an answer.`)
}

/** The answers by id of the interrupt; undefined if there are none, or if an answer has no `interrupt_id`. */
function answersOf(params: JsonObject): Record<string, JsonValue> | undefined {
  const { responses } = params
  const resume: Record<string, JsonValue> = {}
  for (const one of Array.isArray(responses) ? responses : [params]) {
    if (!isObject(one) || typeof one['interrupt_id'] !== 'string') return undefined
    resume[one['interrupt_id']] = one['response'] ?? null
  }
  return Object.keys(resume).length > 0 ? resume : undefined
}

/**
 * Returns the planned run that gives the answers, or the id of an interrupt that does not wait for an answer. If the
 * answer comes before the interrupted run has ended, the new run waits for that end (V-12). The plan is valid until
 * another run is created on the thread. @throws AppError not_found if there is no such thread
 */
export async function planAnswers(
  deps: AnswerDeps,
  call: Call,
  thread_id: string,
  resume: Record<string, JsonValue>,
): Promise<Answering | { unknown: string }> {
  // The runs are read before the thread. If another answer is given meanwhile and its run ends, the thread read
  // afterwards no longer has the interrupt.
  const runs = await deps.runs.recent(call, thread_id)
  const thread = await deps.threads.get(call, thread_id)
  const asking = runs.find(({ status }) => status !== 'pending')
  const pending = new Set(waitingInterrupts(thread, runs).map(({ id }) => id))
  for (const id of await requestedIds(deps, call, thread_id, asking)) pending.add(id)
  const answered = new Set(runs.filter(isWaiting).flatMap(({ kwargs }) => answeredIds(kwargs.command) ?? []))
  const ids = Object.keys(resume)
  const unknown = ids.find((id) => !pending.has(id) || answered.has(id))
  if (unknown !== undefined) return { unknown }
  const assistant_id = asking?.assistant_id ?? thread.metadata['assistant_id']
  const newest_run_id = runs[0]?.run_id ?? null
  return { assistant_id, newest_run_id, run_id: answerId(thread, asking, ids) }
}

function isWaiting({ status }: Run): boolean {
  return status === 'pending'
}

/** The id of the run that answers these interrupts of the interrupted run. */
function answerId(
  { thread_id, state_updated_at }: Thread,
  asking: Run | undefined,
  ids: readonly string[],
): string {
  const asked = asking === undefined ? [state_updated_at] : [asking.run_id, asking.attempt]
  const about = JSON.stringify([thread_id, ...asked, ids.toSorted()])
  const hex = createHash('sha256').update(about).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
