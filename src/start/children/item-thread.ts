import type { MatchTask, TextsTask } from '../../hosting/threads/items.ts'
import { passesRuling, toVisible } from '../../runs/access/rulings.ts'
import type { JsonObject } from '../../schema/json.ts'
import { itemTexts } from '../../storage/sql/items/vectors.ts'
import { serveTasks } from '../../worker-threads/serve-tasks.ts'
import { yieldTo } from '../../worker-threads/thread-priority.ts'

// Composition root of a thread that reads large values of items.

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
