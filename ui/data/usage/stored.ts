import { joinFilter } from '../filter/filter.ts'
import { groupClause, hasKeyClause } from '../overview/selection.ts'

/** The stored traces behind a number, as in the address of their list. Times are ISO. */
export interface StoredQuery {
  from: string
  to: string
  key: string
  /** The values of the key; empty for all traces. */
  values: readonly string[]
  /** Only traces without the key. */
  isWithout: boolean
  /** Values whose traces are left out. */
  except: readonly string[]
  /** Only traces with calls that have no price. */
  isUnpriced: boolean
}

/** The filter of the stored traces of a query. */
export function storedFilter({ key, values, isWithout, except }: StoredQuery): string {
  const of = (one: string): string => groupClause(`metadata.${key}`, one)
  return joinFilter([
    ...(values.length === 0
      ? []
      : [values.length === 1 ? values.map(of).join() : `or(${values.map(of).join(', ')})`]),
    ...(isWithout ? [`not(${hasKeyClause(key)})`] : []),
    ...except.map((one) => `not(${of(one)})`),
  ])
}
