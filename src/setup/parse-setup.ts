import { LineCounter, parseDocument } from 'yaml'
import { AppError } from '../base/errors.ts'
import type { FieldFault, Registry } from '../schema/registry.ts'
import type { Section, Setup } from './setup.ts'

/** Maximum characters of a document. */
export const MAX_CHARS = 1 << 20
const MAX_SHOWN = 10
const STEP = /\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|[^.[\]]+/g
const SECTIONS = ['workspaces', 'members', 'service_keys', 'prices', 'feedback'] as const

function invalid(faults: readonly string[]): AppError {
  return new AppError('invalid_request', { message: `The set-up is not valid:\n${faults.join('\n')}` })
}

/** A document as sent, and the line of each of its places. */
interface Read {
  value: unknown
  lineOf(path: string): number | undefined
}

/** @throws AppError invalid_request for text that is neither YAML nor JSON, with the line */
function readText(text: string): Read {
  if (text.length > MAX_CHARS) throw invalid([`It is longer than ${MAX_CHARS} characters.`])
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, strict: true })
  if (document.errors.length > 0)
    throw invalid(
      document.errors
        .slice(0, MAX_SHOWN)
        .map(({ message, pos }) => `line ${lines.linePos(pos[0]).line}: ${message}`),
    )
  const lineOf = (path: string): number | undefined => {
    const steps = stepsOf(path)
    for (let depth = steps.length; depth >= 0; depth--) {
      const node = document.getIn(steps.slice(0, depth), true) as
        | { range?: [number, number, number] }
        | undefined
      if (node?.range) return lines.linePos(node.range[0]).line
    }
    return undefined
  }
  try {
    // Aliases could make a small text very large.
    return { value: document.toJS({ maxAliasCount: 0 }), lineOf }
  } catch (cause) {
    throw invalid([cause instanceof ReferenceError ? 'Aliases are not accepted.' : 'It is nested too deep.'])
  }
}

function stepsOf(path: string): (string | number)[] {
  return [...path.matchAll(STEP)].map(([text, quoted, index]) => {
    if (index !== undefined) return Number(index)
    return quoted === undefined ? text : (JSON.parse(`"${quoted}"`) as string)
  })
}

function faultText({ lineOf }: Read, { path, message, code }: FieldFault): string {
  const line = lineOf(path)
  const isKey = /service_keys.*\.key$/.test(path) && code === 'wrong_type'
  const words = isKey
    ? 'must be {env: NAME} or {file: /PATH}: the key itself may not stand in the file'
    : message
  return `${line === undefined ? '' : `line ${line}: `}${path || 'the document'} ${words}`
}

/** Text of YAML or JSON, or a parsed value, as a set-up. @throws AppError invalid_request with every fault */
export function parseSetup(document: unknown, registry: Registry): Setup {
  const read: Read =
    typeof document === 'string' ? readText(document) : { value: document, lineOf: () => undefined }
  const checked = registry.check('setup-document', read.value)
  if (!checked.ok) throw invalid(checked.faults.slice(0, MAX_SHOWN).map((fault) => faultText(read, fault)))
  const value: Record<string, unknown> = { ...checked.value }
  const sections = SECTIONS.filter((name) => value[name] !== undefined)
  return Object.fromEntries(sections.map((name) => [name, toSection(value[name])])) as Setup
}

function toSection(sent: unknown): Section<unknown> {
  if (Array.isArray(sent)) return { items: sent, prune: false }
  const { items, prune = false } = sent as { items: unknown[]; prune?: boolean }
  return { items, prune }
}
