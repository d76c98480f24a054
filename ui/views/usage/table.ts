import type { Dimensions, Stride, UsageLine } from '../../data/usage/lines.ts'
import { addDecimals, compareDecimals, subtractDecimals } from '../../parts/format/decimal.ts'

/** A group of a report, with the parameters that select its records in the lists of usage. */
export interface UsageGroup {
  id: string
  name: string
  /** Parameters of `usage-traces` and `usage-runs`, some of them with several values. */
  selects: Readonly<Record<string, string | readonly string[]>>
  /** Decimal texts by bucket; null when not known. A bucket without the group is missing. */
  values: ReadonlyMap<string, string | null>
  /** Exact sum of the known values; null when none is known. */
  total: string | null
  /** Number of calls without a price by bucket, which the values leave out; buckets without one are missing. */
  gaps: ReadonlyMap<string, number>
  /** The sum of `gaps`. */
  unpriced: number
  /** The versions of a model that was called under several names, largest first; absent for all other groups. */
  versions?: readonly UsageGroup[]
}

/** A report, ready to be drawn. */
export interface UsageTable {
  /** Start of every bucket, as the server writes it, including those without usage. */
  buckets: readonly string[]
  /** Largest first. */
  groups: readonly UsageGroup[]
  total: string | null
  /** Number of model calls without a price. */
  unpriced: number
}

type Identity = Pick<UsageGroup, 'id' | 'name' | 'selects'>

/** Returns the id and the name of a group, and the parameters that select its records. */
function identityOf(dimensions: Dimensions): Identity {
  if ('project_id' in dimensions) {
    const { project_id: id, project_name: name } = dimensions
    return { id, name, selects: { project_id: id } }
  }
  if ('user_id' in dimensions) {
    const id = dimensions.user_id ?? 'null'
    return { id, name: dimensions.user_email ?? 'No user (service keys)', selects: { user_id: id } }
  }
  if ('api_key_short_key' in dimensions) {
    const { api_key_short_key: id } = dimensions
    return { id, name: id, selects: { api_key: id } }
  }
  if ('workspace_id' in dimensions) {
    const { workspace_id: id, workspace_name: name } = dimensions
    return { id, name, selects: { workspace_ids: id } }
  }
  if ('metadata_value' in dimensions) {
    const { metadata_value: value, left_out: except = [] } = dimensions
    if (value !== null) return { id: `= ${value}`, name: value, selects: { value } }
    if (except.length > 0) return { id: 'rest', name: '(other values, or none)', selects: { except } }
    return { id: 'none', name: '(none)', selects: { without: 'yes' } }
  }
  const { provider, model } = dimensions
  return modelIdentity(provider, model)
}

function modelIdentity(provider: string | null, model: string | null): Identity {
  const name = [provider, model].filter((part) => part !== null).join(' · ')
  const selects = { provider: provider ?? 'null', model: model ?? 'null' }
  return { id: JSON.stringify([provider, model]), name: name || 'No model named', selects }
}

/** The identity of all versions of a model; undefined for a group that is no model. */
function baseOf(dimensions: Dimensions): Identity | undefined {
  return 'base_model' in dimensions ? modelIdentity(dimensions.provider, dimensions.base_model) : undefined
}

function sumOf(values: Iterable<string | null>): string | null {
  const known = [...values].filter((value) => value !== null)
  return known.length === 0 ? null : (addDecimals(known) ?? null)
}

const HOUR_MS = 3_600_000

/** The starts of all buckets of a range: hours or days of UTC, as the server aligns them. */
export function bucketStarts(from: string, to: string, { days, hours }: Stride): string[] {
  const unit = hours > 0 ? HOUR_MS : 24 * HOUR_MS
  const size = (days * 24 + hours) * HOUR_MS
  const starts: string[] = []
  for (let at = Math.floor(Date.parse(from) / unit) * unit; at < Date.parse(to); at += size)
    starts.push(new Date(at).toISOString())
  return starts
}

function summedGroup(group: Omit<UsageGroup, 'total' | 'unpriced'>): UsageGroup {
  const unpriced = [...group.gaps.values()].reduce((sum, count) => sum + count, 0)
  return { ...group, total: sumOf(group.values.values()), unpriced }
}

/** The gaps of several groups together. */
function gapsOf(groups: readonly UsageGroup[]): Map<string, number> {
  const gaps = new Map<string, number>()
  for (const [bucket, count] of groups.flatMap((group) => [...group.gaps]))
    gaps.set(bucket, (gaps.get(bucket) ?? 0) + count)
  return gaps
}

function byTotal(a: UsageGroup, b: UsageGroup): number {
  return compareDecimals(b.total ?? '-1', a.total ?? '-1')
}

/** One group of all versions of a model; a model with one version is that version. */
function withVersions({ id, name, selects }: Identity, versions: readonly UsageGroup[]): UsageGroup {
  if (versions.length === 1) return versions[0]!
  const buckets = new Set(versions.flatMap(({ values }) => [...values.keys()]))
  const valueAt = (bucket: string): string | null =>
    sumOf(versions.flatMap(({ values }) => (values.has(bucket) ? [values.get(bucket) ?? null] : [])))
  const values = new Map([...buckets].map((bucket) => [bucket, valueAt(bucket)]))
  const model = versions.flatMap((version) => version.selects['model'] ?? [])
  return summedGroup({
    id,
    name,
    selects: { ...selects, model },
    values,
    gaps: gapsOf(versions),
    versions: versions.toSorted(byTotal),
  })
}

/** The lines of a report, with what its groups leave of the whole. */
export function withRest(lines: readonly UsageLine[], whole: readonly UsageLine[]): UsageLine[] {
  const groups = Map.groupBy(lines, ({ time_bucket }) => time_bucket)
  const rest = whole.flatMap((all) => {
    const own = groups.get(all.time_bucket) ?? []
    const left = (of: (line: UsageLine) => number): number =>
      own.reduce((sum, line) => sum - of(line), of(all))
    if (left(({ traces = 0 }) => traces) <= 0) return []
    const known = sumOf(own.map(({ value }) => value)) ?? '0'
    const value = all.value === null ? null : (subtractDecimals(all.value, known) ?? null)
    return [{ ...all, value, unpriced: left(({ unpriced }) => unpriced) }]
  })
  return [...lines, ...rest]
}

/** The table of a report: every bucket of the range, and the groups with their exact sums. */
export function tableOf(
  { from, to, stride }: { from: string; to: string; stride: Stride },
  lines: readonly UsageLine[],
): UsageTable {
  const groups = new Map<
    string,
    Identity & { values: Map<string, string | null>; gaps: Map<string, number> }
  >()
  const bases = new Map<string, { identity: Identity; ids: Set<string> }>()
  for (const { time_bucket, dimensions, value, unpriced } of lines) {
    const identity = identityOf(dimensions)
    const group = groups.get(identity.id) ?? { ...identity, values: new Map(), gaps: new Map() }
    const bucket = new Date(time_bucket).toISOString()
    group.values.set(bucket, value)
    if (unpriced > 0) group.gaps.set(bucket, unpriced)
    groups.set(identity.id, group)
    const base = baseOf(dimensions) ?? identity
    const known = bases.get(base.id) ?? { identity: base, ids: new Set<string>() }
    known.ids.add(identity.id)
    bases.set(base.id, known)
  }
  const summed = [...bases.values()]
    .map(({ identity, ids }) =>
      withVersions(
        identity,
        [...ids].map((id) => summedGroup(groups.get(id)!)),
      ),
    )
    .sort(byTotal)
  return {
    buckets: bucketStarts(from, to, stride),
    groups: summed,
    total: sumOf(summed.map(({ total }) => total)),
    unpriced: lines.reduce((sum, { unpriced }) => sum + unpriced, 0),
  }
}

/** Maximum number of series of a chart besides the series of all others. */
export const MOST_SERIES = 11

/** The largest groups, and the others as one group. */
export function seriesOf(groups: readonly UsageGroup[], buckets: readonly string[]): UsageGroup[] {
  if (groups.length <= MOST_SERIES + 1) return [...groups]
  const others = groups.slice(MOST_SERIES)
  const values = new Map<string, string | null>()
  for (const bucket of buckets) {
    const found = others.flatMap((group) =>
      group.values.has(bucket) ? [group.values.get(bucket) ?? null] : [],
    )
    if (found.length > 0) values.set(bucket, sumOf(found))
  }
  const name = `${others.length} others`
  const shown = groups.slice(0, MOST_SERIES)
  const selects = selectsOthers(shown, others)
  return [...shown, summedGroup({ id: 'others', name, selects, values, gaps: gapsOf(others) })]
}

/**
 * Returns the parameters that select the records of `others`: all but those of `shown`. Workspaces are named, because a
 * list of records requires them.
 */
function selectsOthers(shown: readonly UsageGroup[], others: readonly UsageGroup[]): UsageGroup['selects'] {
  const ids = shown.flatMap(({ id, versions }) => versions?.map((version) => version.id) ?? [id])
  const [name = ''] = Object.keys(shown[0]?.selects ?? {})
  if (OF_VALUES.has(name)) return selectsOtherValues(shown, others)
  if (name === 'workspace_ids') return { workspace_ids: others.map(({ id }) => id).join(',') }
  return { [name === 'provider' ? 'exclude_model' : `exclude_${name}`]: ids }
}

const OF_VALUES: ReadonlySet<string> = new Set(['value', 'without', 'except'])

/** As selectsOthers, for values of a key of the metadata. */
function selectsOtherValues(
  shown: readonly UsageGroup[],
  others: readonly UsageGroup[],
): UsageGroup['selects'] {
  const valuesOf = (groups: readonly UsageGroup[]): string[] =>
    groups.flatMap(({ selects }) => (typeof selects['value'] === 'string' ? [selects['value']] : []))
  const isRestShown = others.every(({ selects }) => typeof selects['value'] === 'string')
  // Without the traces of no group, the values are named: all that are left out are not enough.
  return isRestShown ? { one_of: valuesOf(others) } : { except: valuesOf(shown) }
}
