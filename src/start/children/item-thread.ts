import { passesRuling, toVisible } from '../../runs/access/rulings.ts'
import type { JsonObject } from '../../schema/json.ts'
import { itemTexts } from '../../storage/sql/items/vectors.ts'
import { serveTasks } from '../../worker-threads/serve-tasks.ts'
import { yieldTo } from '../../worker-threads/thread-priority.ts'

// Composition root of a thread that reads large values of items.

/** Requests the texts at paths of a value. */
export interface TextsTask {
  json: string
  paths: readonly string[]
}

/** Requests whether a filter matches a value. */
export interface MatchTask {
  json: string
  others: JsonObject
  filter: JsonObject
}

/** A low priority, since all other work is more urgent. */
const NICENESS = 10

yieldTo(NICENESS)

const parsed = (json: string): JsonObject => JSON.parse(json) as JsonObject

serveTasks({
  texts(input) {
    const { json, paths } = input as TextsTask
    return { value: itemTexts(parsed(json), paths) }
  },
  matches(input) {
    const { json, others, filter } = input as MatchTask
    return { value: passesRuling({ visible: toVisible(filter) }, { ...parsed(json), ...others }) }
  },
})
