import { type JsonObject, type JsonValue, isObject } from '../../../schema/json.ts'
import { joinPath } from '../../../schema/issue.ts'
import { remember } from '../../json/known-names.ts'
import { type AttributePlace, snakeCase, type TableNode, type UsageRow, type UsageTable } from './table.ts'

/** Number of keys and items of a usage object that are visited. */
const MOST_KEYS = 500
const MAX_DEPTH = 8
/** Number of unread numbers that are kept. */
const MOST_UNREAD = 20

/** A value with rows, at its path in the answer. */
export interface UsageLeaf {
  rows: readonly UsageRow[]
  value: JsonValue
  /** The path of the object or list around the value, and its key there. */
  base: string
  key: string
  /** The key that `*` in the row stands for. */
  wild: string | undefined
}

export function pathOf({ base, key }: Pick<UsageLeaf, 'base' | 'key'>): string {
  return joinPath(base, key)
}

/** A number that no row knows. */
export interface UnreadNumber {
  path: string
  value: string
}

export interface WalkedUsage {
  leaves: UsageLeaf[]
  unread: UnreadNumber[]
  /** Number of names that each dialect knows, also of absent and empty values. */
  fits: number[]
  /** Whether only the first keys were visited. */
  isCut: boolean
}

/** Visits a usage object. `knownOnly`: values without rows are left out, for an answer around its usage object. */
export function walkUsage(value: JsonValue, path: string, table: UsageTable, knownOnly = false): WalkedUsage {
  const walk = newWalk(table, knownOnly)
  visit(walk, value, table.root, path, 0, undefined)
  return walk
}

function newWalk(table: UsageTable, knownOnly: boolean): Walk {
  const fits = new Array<number>(table.dialects.length).fill(0)
  return { leaves: [], unread: [], fits, isCut: false, left: MOST_KEYS, knownOnly }
}

/** Families of attributes whose numbers are usage, so that each needs a row. */
const USAGE_FAMILY =
  /^(?:gen_ai\.usage|llm\.token_count|llm\.usage|llm\.token\.counts|decision\.token_count|ai\.usage|anthropic\.usage)\./
/** Other attributes that may be about usage. */
const MAY_BE_USAGE = /cost|service_tier|speed|_tokens$/

/**
 * Visits the attributes of a span that are about usage, except counts of whole sides, and adds the names of all of them
 * to `names`. Rows have whole names of attributes.
 */
export function walkAttributes(
  attributes: JsonObject,
  parsed: (key: string) => JsonValue | undefined,
  path: string,
  table: UsageTable,
  names: string[],
): WalkedUsage {
  const walk = newWalk(table, false)
  for (const key in attributes) {
    let place = table.places.get(key)
    if (place === undefined) place = remember(table.places, key, attributePlace(key, table))
    if (place === null) continue
    names.push(key)
    if (place.isSide) continue
    const { node, wild } = place
    walk.knownOnly = !place.isUsage
    if (walk.left-- <= 0) {
      walk.isCut = true
      break
    }
    const value = attributes[key]
    step(walk, typeof value === 'string' ? parsed(key) : value, node, path, key, 0, wild)
  }
  return walk
}

/** Null for an attribute that is not about usage. */
function attributePlace(name: string, table: UsageTable): AttributePlace | null {
  const isUsage = USAGE_FAMILY.test(name)
  if (!isUsage && !MAY_BE_USAGE.test(name)) return null
  let node: TableNode | undefined = table.root
  let wild: string | undefined
  for (const part of name.split('.', MAX_DEPTH + 2)) {
    const named: TableNode | undefined = node?.below.get(snakeCase(part))
    if (named === undefined) wild = part
    node = named ?? node?.any
  }
  return { isUsage, isSide: node?.rows[0]?.kind === 'side', node, wild }
}

interface Walk extends WalkedUsage {
  left: number
  knownOnly: boolean
}

function visit(
  walk: Walk,
  value: JsonValue,
  node: TableNode | undefined,
  path: string,
  depth: number,
  wild: string | undefined,
): void {
  if (Array.isArray(value)) visitList(walk, value, node, path, depth, wild)
  else if (isObject(value)) visitKeys(walk, value, node, path, depth, wild)
}

function visitKeys(
  walk: Walk,
  value: JsonObject,
  node: TableNode | undefined,
  path: string,
  depth: number,
  wild: string | undefined,
): void {
  for (const key in value) {
    if (walk.left-- <= 0) {
      walk.isCut = true
      return
    }
    const named = node?.below.get(snakeCase(key))
    const below = named ?? node?.any
    if (below === undefined && walk.knownOnly) continue
    step(walk, value[key], below, path, key, depth, named === undefined && below !== undefined ? key : wild)
  }
}

/** Items of a list have the word that tells their kind as key, if one does: `{modality: 'AUDIO', tokenCount: 3}`. */
function visitList(
  walk: Walk,
  list: readonly JsonValue[],
  node: TableNode | undefined,
  path: string,
  depth: number,
  wild: string | undefined,
): void {
  const item = node?.below.get('[]')
  if (walk.knownOnly && (node === undefined || node.below.size === 0)) return
  for (const [i, value] of list.entries()) {
    if (walk.left-- <= 0) {
      walk.isCut = true
      return
    }
    const word = typeof value === 'string' ? value : isObject(value) ? kindOf(value) : undefined
    const below = (word === undefined ? undefined : node?.below.get(snakeCase(word))) ?? item
    if (below === undefined && walk.knownOnly) continue
    // A word in a list counts one: {server_side_tools_used: ['WEB_SEARCH']}.
    const counted = typeof value === 'string' && below !== undefined ? 1 : value
    step(walk, counted, below, path, `[${i}]`, depth, wild)
  }
}

/** The member of an enum that came as Python writes it: `MediaModality.AUDIO`. */
export function withoutEnum(word: string): string {
  return /^(?:[A-Z][a-z]+)+\.([A-Z][A-Z_\d]*)$/.exec(word)?.[1] ?? word
}

function kindOf(item: JsonObject): string | undefined {
  const kind = item['modality'] ?? item['ttl'] ?? item['type']
  return typeof kind === 'string' ? withoutEnum(kind) : undefined
}

function step(
  walk: Walk,
  value: JsonValue | undefined,
  node: TableNode | undefined,
  base: string,
  key: string,
  depth: number,
  wild: string | undefined,
): void {
  if (node !== undefined)
    for (const row of node.rows) if (!row.isReplacing && !row.isOwn) walk.fits[row.dialect]!++
  if (value === null || value === undefined) return
  const isPlain = typeof value !== 'object'
  if (node !== undefined && node.rows.length > 0 && (isPlain || node.takesWhole)) {
    if (node.isUnread) visitUnread(walk, value, joinPath(base, key), depth)
    else walk.leaves.push({ rows: node.rows, value, base, key, wild })
  } else if (!isPlain) {
    if (depth < MAX_DEPTH) visit(walk, value, node, joinPath(base, key), depth + 1, wild)
  } else if (!walk.knownOnly && isNumber(value) && !isIgnored(base, key)) addUnread(walk, base, key, value)
}

function visitUnread(walk: Walk, value: JsonValue, path: string, depth: number): void {
  const { knownOnly } = walk
  walk.knownOnly = false
  visit(walk, value, undefined, path, depth + 1, undefined)
  walk.knownOnly = knownOnly
}

function isNumber(value: JsonValue): value is number | string {
  return typeof value === 'number'
    ? value !== 0
    : typeof value === 'string' && /^\d{1,15}(?:\.\d{1,15})?$/.test(value) && Number(value) !== 0
}

/** Names of numbers that are no usage: times and speeds, limits, ids, seeds, sizes in bytes. */
const IGNORED =
  /(?:_time|_times|_logprob|logprob|_duration|_ms|_ns|_per_second|_per_token|_per_sec|ttft|latency|latency_ms|seed|index|_index|created|created_at|timestamp|_at|_bytes|_size|context_window|_id|id|tps|version|first_byte_latency|invocation_latency|time_info)$|^max_(?:\w+_)?tokens$|time_to_first/

function isIgnored(base: string, key: string): boolean {
  return IGNORED.test(snakeCase(key)) || base.includes('time_info')
}

function addUnread(walk: Walk, base: string, key: string, value: number | string): void {
  if (walk.unread.length < MOST_UNREAD)
    walk.unread.push({ path: joinPath(base, key), value: String(value).slice(0, 40) })
}
