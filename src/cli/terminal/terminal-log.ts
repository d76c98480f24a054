import { relative } from 'node:path'
import { inspect, styleText } from 'node:util'
import { printableLines } from './printable.ts'

/** The server's log on a terminal, for `pino`. */
export interface TerminalLog {
  /** One line of JSON. */
  write(line: string): void
  /** Writes the lines that were held back, and from now on all lines at once. */
  open(): void
}

interface LogRecord {
  level: string
  time: string
  msg?: string
  /** Text that a graph wrote. */
  text?: string
  fields?: object
  node?: string
  graph?: string
  file?: string
  line?: number | null
  reason?: string
  run_id?: string
  error?: string
  place?: string
  files?: string[]
  graphs?: string[]
  err?: { message?: string; stack?: string }
}

type Style = Parameters<typeof styleText>[0]
type Sentence = (record: LogRecord) => { text: string; style?: Style } | undefined

/** Formats a line of `getLogger()` in the colour of its level, with the node that logged it. */
function sentenceOfLogged({ level, text = '', fields, node }: LogRecord): ReturnType<Sentence> {
  const from = node === undefined ? '' : `${node}: `
  const style = STYLES[level]
  return {
    text: `${from}${text}${fields === undefined ? '' : ` ${inspect(fields)}`}`,
    ...(style && { style }),
  }
}

/** Messages in words for developers of graphs. Other messages are shown only from level warning on. */
const SENTENCES: Readonly<Record<string, Sentence>> = {
  'graph host wrote': ({ text = '' }) => ({ text }),
  'graph host wrote to stderr': ({ text = '' }) => ({ text, style: 'yellow' }),
  'graph logged': sentenceOfLogged,
  'auth file logged': sentenceOfLogged,
  'files changed: the graphs are loaded again': ({ files = [] }) => ({
    text: `${files.map((file) => relative('', file)).join(', ')} changed: loading the graphs anew`,
    style: 'dim',
  }),
  // Not shown, because the welcome text has the same facts.
  'a default port is taken: listening on the next free one': () => undefined,
  'a default port is taken: there is no OTLP over gRPC': () => undefined,
  'graphs are loaded': ({ graphs = [] }) => ({
    text: `Graphs are loaded: ${graphs.join(', ')}`,
    style: 'green',
  }),
  'the graphs of the deployment cannot be loaded': ({ reason = '' }) => ({
    text: `The graphs cannot be loaded. New runs fail until this is fixed:\n${reason}`,
    style: 'red',
  }),
  'a graph cannot be loaded': ({ graph = '', file = '', line, reason = '' }) => ({
    text: `Graph "${graph}" cannot be loaded. Its runs fail until this is fixed:\n${placeText(file, line)}: ${reason}`,
    style: 'red',
  }),
  'a run failed': ({ graph = '', node, run_id = '', error = '', reason = '', place }) => ({
    text: `Run ${run_id} of graph "${graph}" failed${node === undefined ? '' : ` in node "${node}"`}: ${error}: ${reason}${placeOfFailure(place)}`,
    style: 'red',
  }),
  'langgraph.json cannot be used: its last valid version stays in use': ({ reason = '' }) => ({
    text: `${reason} The previous settings stay in use.`,
    style: 'red',
  }),
}

const STYLES: Readonly<Record<string, Style>> = { warn: 'yellow', error: 'red', fatal: 'red' }

/** Converts an absolute `file:line` to ` (src/graph.ts:12)`. */
function placeOfFailure(place: string | undefined): string {
  return place === undefined ? '' : ` (${relative('', place)})`
}

function placeText(file: string, line: number | null | undefined): string {
  const path = relative('', file)
  return line === null || line === undefined ? path : `${path}:${line}`
}

/** The server's log for people: messages about their graphs, and faults; with `all`, all messages. */
export function createTerminalLog(
  write: (text: string) => void,
  { colors, all }: { colors: boolean; all: boolean },
): TerminalLog {
  let held: string[] | undefined = []
  let last = ''
  const print = (text: string): void => void (held === undefined ? write(text) : held.push(text))

  return {
    write(line) {
      const record = JSON.parse(line) as LogRecord
      const sentence = sentenceOf(record, all)
      if (sentence === undefined) return
      const text = printableLines(sentence.text)
      // Skips the repeated message of further runs that fail for the same reason.
      if (text === last && record.level === 'error') return
      last = text
      const time = new Date(record.time).toTimeString().slice(0, 8)
      const { style = 'reset' } = sentence
      print(
        `${colors ? styleText('dim', time, NO_CHECK) : time}  ${colors ? styleText(style, text, NO_CHECK) : text}\n`,
      )
    },
    open() {
      for (const text of held ?? []) write(text)
      held = undefined
    },
  }
}

/** `colors` decides whether colours are used, so `styleText` must not check the stream. */
const NO_CHECK = { validateStream: false }

function sentenceOf(record: LogRecord, all: boolean): ReturnType<Sentence> {
  const { level, time: _, msg = '', err, ...facts } = record
  const sentence = Object.hasOwn(SENTENCES, msg) ? SENTENCES[msg] : undefined
  if (sentence !== undefined) return sentence(record)
  const style = STYLES[level]
  if (style === undefined && !all) return undefined
  const about = factsText(facts, msg)
  const text = `${msg}${err?.message === undefined ? '' : `: ${err.message}`}${about}`
  return style === undefined ? { text } : { text, style }
}

/**
 * Text between the words of a message. `1.7.3` and `a/b` are words; the full stop of a sentence is not part of a word.
 */
const NO_WORD = /[\s"';,()~@]+|[.:](?=\s|$)/

/** The fields of a line that its text does not contain; '' if it contains all. */
function factsText(facts: object, words: string): string {
  const printed = words.split(NO_WORD)
  const isPrinted = (fact: unknown): boolean => printed.includes(String(fact))
  const others = Object.entries(facts).filter(([, fact]) => !isPrinted(fact))
  return others.length === 0 ? '' : ` ${inspect(Object.fromEntries(others), { breakLength: Infinity })}`
}
