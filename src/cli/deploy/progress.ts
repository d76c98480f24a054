import { printableLines, uncoloured } from '../terminal/printable.ts'

/** The streams to which a command writes; standard output gets only results (P-42). */
export interface Output {
  stdout(text: string): void
  stderr(text: string): void
  isTerminal: boolean
  now(): Date
}

/** The steps of a deployment as they happen. */
export interface Progress {
  done(step: string, text: string): void
  /**
   * Shows the progress of a step. On a terminal the next line replaces this one; elsewhere one line is written
   * for each step.
   */
  working(step: string, text: string, seconds: number): void
  /** The source is being uploaded: its size, and how much of it the server has. */
  uploading(bytes: number, percent: number): void
  failed(step: string, text: string): void
  info(text: string): void
  warn(text: string): void
  line(text: string): void
  /** The result: its URL is the only line on stdout. */
  result(status: 'succeeded' | 'failed' | 'timed_out' | 'started', facts: ResultFacts): void
}

export interface ResultFacts {
  deployment_id: string
  message: string
  url?: string | undefined
  studio_url?: string | undefined
}

const MB = 1_000_000
const WIDTH = 18
const FRAMES = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'
const CLEAR = '\r\u001b[2K'

/** A text of a build or of deployed code, which must not control the terminal; it may have several lines. */
function safe(text: string): string {
  return printableLines(uncoloured(text))
}

/** Shows steps for people: on a terminal with a changing line, otherwise one line for each step with its time. */
export function textProgress({ stdout, stderr, isTerminal, now }: Output): Progress {
  let shown = ''
  let frame = 0
  const write = (mark: string, text: string): void => {
    const time = isTerminal ? '' : `${now().toISOString().slice(11, 19)} `
    stderr(`${isTerminal ? CLEAR : ''}${time}  ${mark} ${safe(text)}\n`)
    shown = ''
  }
  const step = (name: string, text: string): string => `${name.padEnd(WIDTH)} ${text}`.trimEnd()
  const show = (name: string, text: string, whole: string): void => {
    if (!isTerminal) {
      if (shown !== name) write('…', step(name, text))
      shown = name
      return
    }
    frame = (frame + 1) % FRAMES.length
    stderr(`${CLEAR}  ${FRAMES[frame]} ${safe(step(name, whole))}`)
  }
  return {
    done: (name, text) => write('✓', step(name, text)),
    failed: (name, text) => write('✗', step(name, text)),
    working(name, text, seconds) {
      const whole = [text, `${Math.round(seconds)} s`].filter((part) => part !== '').join(' · ')
      show(name, text, whole)
    },
    uploading(bytes) {
      const size = `${(bytes / MB).toFixed(1)} MB`
      show('uploading', size, size)
    },
    info: (text) => write(' ', text),
    warn: (text) => write('!', text),
    line: (text) => write('|', text),
    result(status, { message, url, studio_url }) {
      if (isTerminal) stderr(CLEAR)
      if (status === 'succeeded' && url !== undefined) {
        stdout(`${url}\n`)
        if (studio_url !== undefined) stderr(`  Studio  ${studio_url}\n`)
      } else stderr(`  ${safe(message)}\n`)
    },
  }
}

/** Prints one JSON object per line on stdout, with the names of events of `langgraph deploy --json`. */
export function jsonProgress({ stdout }: Output): Progress {
  const write = (event: object): void => stdout(`${JSON.stringify(event)}\n`)
  let number = 0
  let status = ''
  return {
    done: (step, message) => write({ event: 'step', step: ++number, name: step, message }),
    working(name, message, seconds) {
      if (name === status) return
      status = name
      write({ event: 'status_change', status: name, elapsed_seconds: Math.round(seconds * 10) / 10, message })
    },
    uploading: (bytes, pct) =>
      write({ event: 'upload_progress', size_mb: Math.round(bytes / (MB / 10)) / 10, pct }),
    failed: (step, message) => write({ event: 'error', name: step, message }),
    info: (message) => write({ event: 'info', message }),
    warn: (message) => write({ event: 'warn', message }),
    line: (message) => write({ event: 'log', message }),
    result(result, { studio_url, ...facts }) {
      if (studio_url !== undefined) write({ event: 'status_url', url: studio_url })
      write({ event: 'result', status: result, ...facts })
    },
  }
}
