import { createRequire } from 'node:module'
import { within } from '../../../base/background/within.ts'
import type { WebSocket } from 'ws'
import { createPauses } from '../../../base/streams/pauses.ts'
import { shareOfTime } from '../../../base/streams/share-of-time.ts'
import { isDeeperThan } from '../../../base/text/json-depth.ts'
import { type CodePlace, sourceLine } from './source-line.ts'

/** Global symbol under which a host stores a function that returns the id of the job whose code is running. */
export const JOB_OF_CODE = Symbol.for('weir.job_of_code')

/** The code that blocks a host. */
export interface HeldUpBy {
  /** Id of the job whose code runs. */
  job: number | undefined
  /** Position in the user's code, as `file:line`. */
  where: string | undefined
}

/**
 * Finds the code that blocks a process. `ask` must send SIGUSR1 to the process; `eachLine` must pass the lines of its
 * stderr to the listener. Never rejects.
 */
export type FindHeldUp = (
  ask: () => void,
  eachLine: (listener: (line: string) => void) => void,
) => Promise<HeldUpBy>

/** Time limit for the inspector. On a machine under load, it takes seconds to open. */
const TIMEOUT_MS = 5_000
/** Only an address of this machine, because code of the deployment may print such a line too. */
const LISTENING = /^Debugger listening on (ws:\/\/127\.0\.0\.1:\d{1,5}\/[\w-]{1,100})$/
/** Maximum bytes of a message, and of all of them: code of the deployment may be at the other end. */
const MAX_MESSAGE_BYTES = 4 << 20
const MAX_BYTES = 64 << 20
/** The part of the thread's time that messages may take. */
const SHARE = 1 / 3
/** Maximum nesting of a message. */
const MAX_DEPTH = 100
const NOTHING: HeldUpBy = { job: undefined, where: undefined }

/**
 * Finds the JavaScript code that blocks a process; see `FindHeldUp`. SIGUSR1 opens Node's inspector even while code
 * loops. The inspector pauses the code; the call stack shows the place, and the asynchronous context shows the job.
 * This function may only be used for a process that will be killed. Code outside of JavaScript cannot be paused; the
 * result is then empty.
 */
export async function findHeldUpBy(
  ask: () => void,
  eachLine: (listener: (line: string) => void) => void,
): Promise<HeldUpBy> {
  const url = new Promise<string>((resolve) => {
    eachLine((line) => {
      const found = LISTENING.exec(line)?.[1]
      if (found !== undefined) resolve(found)
    })
  })
  try {
    ask()
    return await within(url.then(pauseAndAsk), TIMEOUT_MS, () => NOTHING)
  } catch {
    return NOTHING
  }
}

interface InspectorMessage {
  id?: number
  method?: string
  params?: { callFrames?: CallFrame[]; scriptId?: string } & Partial<Script>
  result?: { result?: { value?: unknown } }
}

interface CallFrame {
  callFrameId: string
  location: CodePlace & { scriptId: string }
}

interface Script {
  url: string
  sourceMapURL: string
}

const QUESTION = `globalThis[Symbol.for('weir.job_of_code')]?.()`

function pauseAndAsk(url: string): Promise<HeldUpBy> {
  return new Promise((resolve, reject) => {
    // Only a server needs it, and only for a host that is blocked.
    const ws = createRequire(import.meta.url)('ws') as { WebSocket: typeof WebSocket }
    const socket = new ws.WebSocket(url, { maxPayload: MAX_MESSAGE_BYTES, perMessageDeflate: false })
    const spend = shareOfTime(createPauses(socket), SHARE)
    const scripts = new Map<string, Script>()
    let where: string | undefined
    let bytes = 0
    const ask = (id: number, method: string, params: object = {}) => {
      socket.send(JSON.stringify({ id, method, params }))
    }
    const fail = (): void => {
      socket.terminate()
      reject(new Error('The inspector cannot be reached.'))
    }
    const receive = (data: Buffer): void => {
      bytes += data.length
      if (bytes > MAX_BYTES || isDeeperThan(MAX_DEPTH, data)) return fail()
      const message = JSON.parse(data.toString()) as InspectorMessage
      if (message.method === 'Debugger.scriptParsed') {
        const { scriptId = '', url = '', sourceMapURL = '' } = message.params ?? {}
        scripts.set(scriptId, { url, sourceMapURL })
      } else if (message.method === 'Debugger.paused') {
        const frames = message.params?.callFrames ?? []
        where = topFrame(frames, scripts)
        ask(3, 'Debugger.evaluateOnCallFrame', { callFrameId: frames[0]?.callFrameId, expression: QUESTION })
      } else if (message.id === 3) {
        socket.close()
        const job = message.result?.result?.value
        resolve({ job: typeof job === 'number' ? job : undefined, where })
      }
    }
    socket.on('error', fail)
    socket.on('close', fail)
    socket.on('open', () => {
      ask(1, 'Debugger.enable')
      ask(2, 'Debugger.pause')
    })
    socket.on('message', (data: Buffer) => {
      try {
        spend(() => receive(data))
      } catch {
        fail()
      }
    })
  })
}

/** The innermost frame in the user's own code. */
function topFrame(frames: readonly CallFrame[], scripts: ReadonlyMap<string, Script>): string | undefined {
  for (const { location } of frames) {
    const { url = '', sourceMapURL } = scripts.get(location.scriptId) ?? {}
    if (!url.startsWith('file:') || url.includes('/node_modules/')) continue
    return `${url.replace(/^file:\/\//, '').replace(/\?.*$/, '')}:${sourceLine(location, sourceMapURL)}`
  }
  return undefined
}
