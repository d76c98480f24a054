import type { ComparedField, ComparedRuns, ComparedValue } from '../../ingest/store/stats-store.ts'
import { classTerms } from '../../trace/filter/value-classes.ts'

/** Number of differences of one answer. */
const MOST = 20
/** Minimum number of runs with a value, in the set where its share is larger. */
const MIN_RUNS = 2
/** Minimum difference of two shares. */
const MIN_DIFFERENCE = 0.05

/** A value that is more or less frequent among the selected runs than among the others. */
export interface ValueDifference {
  field: ComparedField
  /** Key of the metadata, with `metadata_value`. */
  key?: string
  value: string
  /** Filter expression that selects the runs with the value; for fields `…_below` these runs, not their roots. */
  filter: string
  /** 0 to 1. */
  selected_share: number
  rest_share: number
}

export interface Differences extends Omit<ComparedRuns, 'values'> {
  /** The largest difference first. */
  differences: ValueDifference[]
}

/** The values whose shares differ most between two sets of runs; none if one of the sets is empty. */
export function differencesOf({ values, ...counts }: ComparedRuns): Differences {
  const { selected_count, rest_count } = counts
  if (selected_count === 0 || rest_count === 0) return { ...counts, differences: [] }
  const shares = values.map((value) => ({
    ...value,
    selected_share: value.selected / selected_count,
    rest_share: value.rest / rest_count,
  }))
  const size = (one: (typeof shares)[number]): number => Math.abs(one.selected_share - one.rest_share)
  const differences = shares
    .filter((one) => {
      const runs = one.selected_share > one.rest_share ? one.selected : one.rest
      return runs >= MIN_RUNS && size(one) >= MIN_DIFFERENCE && !isSaidByValue(one, values)
    })
    .toSorted((a, b) => size(b) - size(a))
    .slice(0, MOST)
    .map(({ field, key, value, selected_share, rest_share }) => ({
      field,
      ...(key !== '' && { key }),
      ...termsOf({ field, key, value }),
      selected_share,
      rest_share,
    }))
  return { ...counts, differences }
}

/** Whether all runs with a key of the metadata have the same value, so that the line of the value says it all. */
function isSaidByValue(
  { field, value, selected, rest }: ComparedValue,
  values: readonly ComparedValue[],
): boolean {
  return (
    field === 'metadata_key' &&
    values.some(
      (one) =>
        one.field === 'metadata_value' && one.key === value && one.selected === selected && one.rest === rest,
    )
  )
}

type Named = Pick<ComparedValue, 'field' | 'key' | 'value'>

/** A value as people read it, and as a filter. */
function termsOf({ field, key, value }: Named): Pick<ValueDifference, 'value' | 'filter'> {
  const text = JSON.stringify(value)
  if (field === 'latency' || field === 'tokens') return classTerms(field, Number(value))
  if (field === 'model_below') return { value, filter: `and(eq(run_type, "llm"), eq(model, ${text}))` }
  if (field === 'tool_below') return { value, filter: `and(eq(run_type, "tool"), eq(name, ${text}))` }
  if (field === 'tag' || field === 'tag_below') return { value, filter: `has(tags, ${text})` }
  if (field === 'error' || field === 'error_below') return { value, filter: `search(error, ${text})` }
  if (field === 'thread') return { value, filter: `eq(thread_id, ${text})` }
  if (field === 'metadata_value' || field === 'metadata_below')
    return { value, filter: `has(metadata, ${JSON.stringify(JSON.stringify({ [key]: value }))})` }
  return { value, filter: `eq(${field}, ${text})` }
}
