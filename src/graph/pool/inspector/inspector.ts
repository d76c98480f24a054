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
const LISTENING = /Debugger listening on (ws:\/\/\S+)/
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
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<HeldUpBy>((resolve) => {
    timer = setTimeout(resolve, TIMEOUT_MS, NOTHING)
  })
  try {
    ask()
    return await Promise.race([late, url.then(pauseAndAsk)])
  } catch {
    return NOTHING
  } finally {
    clearTimeout(timer)
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
    const socket = new WebSocket(url)
    const scripts = new Map<string, Script>()
    let where: string | undefined
    const ask = (id: number, method: string, params: object = {}) => {
      socket.send(JSON.stringify({ id, method, params }))
    }
    socket.addEventListener('error', () => reject(new Error('The inspector cannot be reached.')))
    socket.addEventListener('open', () => {
      ask(1, 'Debugger.enable')
      ask(2, 'Debugger.pause')
    })
    socket.addEventListener('message', ({ data }) => {
      const message = JSON.parse(String(data)) as InspectorMessage
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
