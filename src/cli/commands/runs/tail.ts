import { AppError } from '../../../base/errors.ts'
import { type ApiClient, connectDeployment, isGone } from '../../server/api-client.ts'
import { assertWord } from '../../arguments/command-arguments.ts'
import { type DeploymentRun, isUnfinished } from '../../server/deployment-run.ts'
import type { StreamEvent } from '../../../base/text/event-stream.ts'
import { followEvents } from '../../server/follow-events.ts'
import { printable } from '../../terminal/printable.ts'
import type { RunsFlags } from './flags.ts'

export type Followed = { run_id: string } | { thread_id: string }

const MODES = ['run_modes', 'lifecycle', 'state_update']
/** Position before all kept events. */
const FROM_START = '-'
const TRIES = 12

/** `weir runs tail`: prints events until the run has ended, or without end. */
export async function tailRuns(followed: Followed, flags: RunsFlags): Promise<number> {
  const { mode = [] } = flags
  for (const word of mode) assertWord('--mode', word, MODES)
  const api = await connectDeployment(flags)
  // EPIPE: the reader of the pipe, such as `head`, has ended.
  process.stdout.on('error', () => process.exit(0))
  const width = process.stdout.isTTY ? process.stdout.columns : undefined
  const print = (event: StreamEvent): void =>
    console.log(flags.asJson ? jsonLine(event) : textLine(event, width))
  if ('run_id' in followed) return tailRun(api, followed.run_id, print)
  const query = new URLSearchParams(mode.map((word): [string, string] => ['stream_modes', word]))
  const path = `/threads/${encodeURIComponent(followed.thread_id)}/stream?${String(query)}`
  await followEvents(api, path, {
    tries: TRIES,
    from: flags['from-start'] === true ? FROM_START : undefined,
    print,
    isOver: () => false,
  })
  return 0
}

/** Prints the events of a run; returns 1 if the run failed. */
async function tailRun(api: ApiClient, asked: string, print: (event: StreamEvent) => void): Promise<number> {
  const { run_id, thread_id, kwargs } = await readRun(api, asked)
  const path =
    kwargs['temporary'] === true ? `/runs/${run_id}/stream` : `/threads/${thread_id}/runs/${run_id}/stream`
  let ended = 'gone'
  const isOver = async (): Promise<boolean> => {
    ended = await statusOf(api, run_id)
    return !isUnfinished(ended)
  }
  await followEvents(api, path, { from: FROM_START, tries: TRIES, print, isOver })
  console.error(ended === 'gone' ? `Run ${run_id} is gone.` : `Run ${run_id} has ended: ${ended}.`)
  return ended === 'error' || ended === 'timeout' ? 1 : 0
}

async function readRun(api: ApiClient, run_id: string): Promise<DeploymentRun> {
  return api.json<DeploymentRun>(`/runs/${encodeURIComponent(run_id)}`).catch((error: unknown) => {
    if (!isGone(error)) throw error
    const message = `There is no run ${run_id} (404); weir runs list shows the runs.`
    throw new AppError('invalid_request', { message })
  })
}

async function statusOf(api: ApiClient, run_id: string): Promise<string> {
  try {
    return (await api.json<DeploymentRun>(`/runs/${run_id}`)).status
  } catch (error) {
    if (isGone(error)) return 'gone'
    throw error
  }
}

function jsonLine({ id, event, data }: StreamEvent): string {
  return `{${id === undefined ? '' : `"id":${JSON.stringify(id)},`}"event":${JSON.stringify(event)},"data":${data}}`
}

/** An event as one line, cut to the width of a terminal. */
function textLine({ event, data }: StreamEvent, width: number | undefined): string {
  const line = printable(`${event.padEnd(12)}  ${data}`)
  return width === undefined || line.length <= width ? line : `${line.slice(0, width - 1)}…`
}
