import { createRegistry } from '../../schema/registry.ts'
import type { JsonValue } from '../../schema/json.ts'
import type { SchemaName } from '../../schema/registry.ts'
import { type LeanBody, takeBulk } from '../../http/body/bulk.ts'
import { parseJsonBody } from '../../http/body/json.ts'
import { serveTasks } from '../../worker-threads/serve-tasks.ts'
import { yieldTo } from '../../worker-threads/thread-priority.ts'

// The composition root of a thread that parses and checks large JSON bodies.

export interface BodyTask {
  bytes: Uint8Array<ArrayBuffer>
  schema: SchemaName
}

/** A body without its large values, as JSON text: a copy between threads would lose exact integers. */
export interface BodyTaken extends Pick<LeanBody, 'large'> {
  json: string
}

/** A low priority, since all other work is more urgent. */
const NICENESS = 10

yieldTo(NICENESS)
const registry = createRegistry()

serveTasks({
  parse(input) {
    const { bytes, schema } = input as BodyTask
    const { body, large } = takeBulk(schema, parseJsonBody(bytes, schema, registry) as JsonValue)
    return { value: { json: JSON.stringify(body), large } satisfies BodyTaken }
  },
})
