import { relative } from 'node:path'
import { inspect, styleText } from 'node:util'
import { printable } from './report-text.ts'

/** Where the server's log goes in `weir dev`. */
export interface DevLog {
  /** One line of JSON. */
  write(line: string): void
  /** What was held back so far is written, and all that comes at once. */
  open(): void
}

interface LogRecord {
  level: string
  time: string
  msg?: string
  /** What a graph wrote. */
  text?: string
  /** What it said besides the text. */
  fields?: object
  node?: string
  graph?: string
  file?: string
  line?: number | null
  reason?: string
  files?: string[]
  graphs?: string[]
  err?: { message?: string; stack?: string }
}

type Style = Parameters<typeof styleText>[0]
type Teller = (record: LogRecord) => { text: string; style?: Style } | undefined

/** A line of `getLogger()`: in its level's colour, with the node that wrote it. */
function tellLogged({ level, text = '', fields, node }: LogRecord): ReturnType<Teller> {
  const from = node === undefined ? '' : `${node}: `
  const style = STYLES[level]
  return {
    text: `${from}${text}${fields === undefined ? '' : ` ${inspect(fields)}`}`,
    ...(style && { style }),
  }
}

/** Messages that a developer of graphs wants to read, in their words. Others only when they are warnings or worse. */
const TELLERS: Readonly<Record<string, Teller>> = {
  'graph host wrote': ({ text = '' }) => ({ text }),
  'graph host wrote to stderr': ({ text = '' }) => ({ text, style: 'yellow' }),
  'graph logged': tellLogged,
  'auth file logged': tellLogged,
  'files changed: the graphs are loaded anew': ({ files = [] }) => ({
    text: `${files.map((file) => relative('', file)).join(', ')} changed: loading the graphs anew`,
    style: 'dim',
  }),
  'graphs are loaded': ({ graphs = [] }) => ({
    text: `Graphs are loaded: ${graphs.join(', ')}`,
    style: 'green',
  }),
  'the graphs of the deployment cannot be loaded': ({ reason = '' }) => ({
    text: `The graphs cannot be loaded. New runs fail until this is mended:\n${reason}`,
    style: 'red',
  }),
  'a graph cannot be loaded': ({ graph = '', file = '', line, reason = '' }) => ({
    text: `Graph "${graph}" cannot be loaded. Its runs fail until this is mended:\n${placeText(file, line)}: ${reason}`,
    style: 'red',
  }),
  'langgraph.json cannot be used: what it said before holds': ({ reason = '' }) => ({
    text: `${reason} What it said before holds.`,
    style: 'red',
  }),
}

const STYLES: Readonly<Record<string, Style>> = { warn: 'yellow', error: 'red', fatal: 'red' }

function placeText(file: string, line: number | null | undefined): string {
  const path = relative('', file)
  return line === null || line === undefined ? path : `${path}:${line}`
}

/** The server's log for people: what concerns their graphs, and what goes wrong. With `all`, everything. */
export function createDevLog(
  write: (text: string) => void,
  { colors, all }: { colors: boolean; all: boolean },
): DevLog {
  let held: string[] | undefined = []
  let last = ''
  const tell = (text: string): void => void (held === undefined ? write(text) : held.push(text))

  return {
    write(line) {
      const record = JSON.parse(line) as LogRecord
      const told = tellingOf(record, all)
      if (told === undefined) return
      const text = told.text.split('\n').map(printable).join('\n')
      // Every run that fails for it says it again.
      if (text === last && record.level === 'error') return
      last = text
      const time = new Date(record.time).toTimeString().slice(0, 8)
      const { style = 'reset' } = told
      tell(
        `${colors ? styleText('dim', time, NO_CHECK) : time}  ${colors ? styleText(style, text, NO_CHECK) : text}\n`,
      )
    },
    open() {
      for (const text of held ?? []) write(text)
      held = undefined
    },
  }
}

/** Whether there are colours has been found out before. */
const NO_CHECK = { validateStream: false }

function tellingOf(record: LogRecord, all: boolean): ReturnType<Teller> {
  const { level, time: _, msg = '', err, ...facts } = record
  const teller = Object.hasOwn(TELLERS, msg) ? TELLERS[msg] : undefined
  if (teller !== undefined) return teller(record)
  const style = STYLES[level]
  if (style === undefined && !all) return undefined
  const about = Object.keys(facts).length === 0 ? '' : ` ${inspect(facts, { breakLength: Infinity })}`
  const text = `${msg}${err?.message === undefined ? '' : `: ${err.message}`}${about}`
  return style === undefined ? { text } : { text, style }
}
