import { workerData } from 'node:worker_threads'
import type { DecodeLaneData, LaneTasks } from '../../ingest/lane-tasks.ts'
import { decodeRequest } from '../../trace/decode/decode.ts'
import { moved } from '../../worker-threads/movable.ts'
import { serveTasks } from '../../worker-threads/serve-tasks.ts'
import { yieldTo } from '../../worker-threads/thread-priority.ts'

// Entry of the threads that decode requests. The start of a server waits for one of them, so no code for deriving is
// loaded here.
yieldTo((workerData as DecodeLaneData).niceness)

serveTasks({
  decode(input) {
    const { head, body } = input as LaneTasks['decode']['input']
    return moved(decodeRequest(head, body))
  },
})
