import { type SourceTask, unpackSource } from '../../deploy/source/unpack-source.ts'
import { serveTasks } from '../../worker-threads/serve-tasks.ts'
import { yieldTo } from '../../worker-threads/thread-priority.ts'

// The composition root of a thread that unpacks the sources of deployments.

/** A low priority, since all other work is more urgent. */
const NICENESS = 10

yieldTo(NICENESS)

serveTasks({
  async unpack(input) {
    const { file, dir } = input as SourceTask
    return { value: await unpackSource(file, dir) }
  },
})
