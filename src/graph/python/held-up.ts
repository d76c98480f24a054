import { dirname } from 'node:path'
import type { FindHeldUp, HeldUpBy } from '../pool/inspector/inspector.ts'
import { MAIN } from './interpreter.ts'

const TIMEOUT_MS = 2_000
const LINE = /^weir-host: held up by (\d+|-) at (.+)$/
/** First line of a thread's stack in the output of `faulthandler`. */
const THREAD = /^(Current thread|Thread) 0x[0-9a-f]+ .*\(most recent call first\):$/
const FRAME = /^ {2}File "(.+)", line (\d+) in /

/**
 * Finds the code that blocks a Python host. On SIGUSR1 the host prints the stacks of its threads, and then the job and
 * the place of the code that its event loop executes. While code outside of Python runs, the host prints only the
 * stacks. The place is then the call of that code, and the job is unknown.
 */
export const findPythonHeldUp: FindHeldUp = (ask, eachLine) => {
  return new Promise((resolve) => {
    const places = { current: undefined as string | undefined, other: undefined as string | undefined }
    let thread: keyof typeof places = 'current'
    const end = (found: HeldUpBy): void => {
      clearTimeout(timer)
      resolve(found)
    }
    const timer = setTimeout(() => end({ job: undefined, where: places.current ?? places.other }), TIMEOUT_MS)
    eachLine((line) => {
      const [, name] = THREAD.exec(line) ?? []
      if (name !== undefined) thread = name === 'Thread' ? 'other' : 'current'
      const [, file, number] = FRAME.exec(line) ?? []
      if (file !== undefined && isOwnFile(file)) places[thread] ??= `${file}:${number}`
      const [, job, where] = LINE.exec(line) ?? []
      if (where === undefined) return
      end({ job: job === '-' ? undefined : Number(job), where: where === '-' ? undefined : where })
    })
    try {
      ask()
    } catch {
      end({ job: undefined, where: undefined })
    }
  })
}

/** True for a file of the project: not a file of a package, of Python or of the host. */
function isOwnFile(file: string): boolean {
  return (
    file.startsWith('/') &&
    !file.startsWith(dirname(MAIN)) &&
    !/\/(lib\/python3|site-packages|dist-packages)/.test(file)
  )
}
