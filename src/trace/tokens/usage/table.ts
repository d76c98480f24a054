import { remember } from '../../json/known-names.ts'
import type { UsageDialect } from './dialects/dialect.ts'

/** What the number at a path means in one dialect. */
export interface UsageRow {
  /** Index of the dialect in the table. */
  dialect: number
  kind:
    | 'side'
    | 'detail'
    | 'unit'
    | 'condition'
    | 'cost'
    | 'models'
    | 'parts'
    | 'nested'
    | 'unread'
    | 'ignored'
  /** Only for sides and details. */
  side?: 'input' | 'output' | 'total'
  /** Name of the detail, unit, condition or cost. */
  key: string
  /** Whether the side does not include the detail. */
  beside: boolean
  /** Whether the side is used only if no other row gives it. */
  isFallback: boolean
  /** Whether the value is a list whose length counts. */
  isLength: boolean
  /** Whether the row is read only if its dialect fits the object best. */
  isOwn: boolean
  /** Whether the count is added to what other rows give for the same number. */
  isAdded: boolean
  /** The pattern of the path, as its dialect has it. */
  pattern: string
  /** Whether the row replaces one of a dialect that its own extends. */
  isReplacing: boolean
  /** The same for all rows that give one number. */
  number: string
  /** The field of usage_metadata that has the side, or the detail. */
  field: string
}

export interface TableNode {
  rows: UsageRow[]
  below: Map<string, TableNode>
  /** The place below for any key that has none of its own. */
  any: TableNode | undefined
  /** Whether a row wants the whole object or list at this place. */
  takesWhole: boolean
  isUnread: boolean
}

export interface AttributePlace {
  /** Whether its numbers are usage, so that each needs a row. */
  isUsage: boolean
  /** Whether it is a count of a whole side, which its reader compares with other such attributes. */
  isSide: boolean
  node: TableNode | undefined
  /** The part of the name that `*` in the row stands for. */
  wild: string | undefined
}

export interface UsageTable {
  root: TableNode
  /** The places of names that were looked up; null for a name that is not about usage. Bounded by `remember`. */
  places: Map<string, AttributePlace | null>
  dialects: readonly UsageDialect[]
  /** Index of the dialect that each dialect extends; -1 for none. */
  extended: readonly number[]
}

/** Kinds of rows whose values are objects. */
const WHOLE: ReadonlySet<string> = new Set(['models', 'parts', 'nested', 'unread'])

export function createUsageTable(dialects: readonly UsageDialect[]): UsageTable {
  const root = newNode()
  for (const [index, { rows }] of dialects.entries()) {
    for (const [pattern, role] of Object.entries(rows)) {
      for (const { path, role: own } of expand(pattern, role)) {
        let node = root
        for (const key of path.split('.')) {
          const next = (key === '*' ? node.any : node.below.get(key)) ?? newNode()
          if (key === '*') node.any = next
          else node.below.set(key, next)
          node = next
        }
        const isReplacing = node.rows.some((row) => isExtended(dialects[index]!, dialects[row.dialect]!))
        const row = { ...readRole(own, index), pattern, isReplacing }
        node.rows.push(row)
        node.takesWhole ||= row.isLength || WHOLE.has(row.kind)
        node.isUnread ||= row.kind === 'unread'
      }
    }
  }
  const extended = dialects.map((it) => (it.extends === undefined ? -1 : dialects.indexOf(it.extends)))
  return { root, places: new Map(), dialects, extended }
}

function isExtended(dialect: UsageDialect, by: UsageDialect): boolean {
  return dialect.extends === by || (dialect.extends !== undefined && isExtended(dialect.extends, by))
}

function newNode(): TableNode {
  return { rows: [], below: new Map(), any: undefined, takesWhole: false, isUnread: false }
}

/** The paths of a pattern, each with its role: `{a,b}_tokens` gives two, and `$1` in the role is the choice. */
function expand(pattern: string, role: string): { path: string; role: string }[] {
  const open = pattern.indexOf('{')
  if (open < 0) return [{ path: pattern, role }]
  const close = pattern.indexOf('}', open)
  return pattern
    .slice(open + 1, close)
    .split(',')
    .flatMap((choice) =>
      expand(
        pattern.slice(0, open) + choice + pattern.slice(close + 1),
        // The choices of later braces move one place to the front.
        role.replaceAll(/\$(\d)/g, (_, n: string) => (n === '1' ? choice : `$${Number(n) - 1}`)),
      ),
    )
}

function readRole(role: string, dialect: number): Omit<UsageRow, 'isReplacing' | 'pattern'> {
  const mark = /^[+~#?&]/.exec(role)?.[0]
  const plain = mark === undefined ? role : role.slice(1)
  const dot = plain.indexOf('.')
  const head = dot < 0 ? plain : plain.slice(0, dot)
  const key = dot < 0 ? '' : plain.slice(dot + 1)
  const flags = {
    dialect,
    key,
    beside: mark === '+',
    isFallback: mark === '~',
    isLength: mark === '#',
    isOwn: mark === '?',
    isAdded: mark === '&',
  }
  if (head !== 'input' && head !== 'output' && head !== 'total')
    return { ...flags, kind: head as UsageRow['kind'], number: plain, field: '' }
  const [kind, field] = dot < 0 ? (['side', 'tokens'] as const) : (['detail', 'token_details'] as const)
  return { ...flags, kind, side: head, number: plain, field: `${head}_${field}` }
}

const names = new Map<string, string>()

/** A key in snake case: `promptTokenCount` and `prompt-token-count` are `prompt_token_count`. */
export function snakeCase(key: string): string {
  const known = names.get(key)
  if (known !== undefined) return known
  const snake = key
    .replaceAll(/([a-z0-9])([A-Z])|([a-z])(?=\d)/g, (_, a: string | undefined, b: string, c: string) =>
      a === undefined ? `${c}_` : `${a}_${b}`,
    )
    .replaceAll('-', '_')
    .replace(/^_+/, '')
    .toLowerCase()
  return remember(names, key, snake)
}
