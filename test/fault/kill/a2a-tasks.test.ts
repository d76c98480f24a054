import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { eventually, PATIENCE_MS } from '../../support/eventually.ts'
import { jsonBody, startWeir, type WeirProcess } from '../../support/servers/weir-process.ts'
import { newFolder } from '../../support/folder.ts'

const GRAPHS = fileURLToPath(new URL('../../fixtures/graphs/langgraph.json', import.meta.url))
const ENV = { GRAPHS, DEPLOYMENT_NAME: 'killed' }

interface Task {
  id: string
  status: { state: string }
  artifacts?: { parts: { text?: string }[] }[]
}

async function call<T>(weir: WeirProcess, method: string, params: object): Promise<T> {
  const answer = await weir.json<{ result: T }>(
    '/deployments/killed/a2a/tokens',
    jsonBody('POST', { jsonrpc: '2.0', id: 1, method, params }),
  )
  return answer.result
}

// Two starts of a server take longer than the limit of a test.
it('A2A-4, A2A-6: after a kill -9 between SendMessage and its answer, GetTask gives the result', async () => {
  const dataDir = await newFolder()
  const gate = join(dataDir, 'gate')
  let weir = await startWeir(dataDir, ENV)
  try {
    const contextId = crypto.randomUUID()
    const parts = [{ text: 'count' }, { data: { tokens: 3, gates: { finish: gate } } }]
    const message = { messageId: 'm', role: 'ROLE_USER', contextId, parts }
    const sent = call(weir, 'SendMessage', { message }).then(
      () => 'answered',
      () => 'cut',
    )
    const list = async (): Promise<Task[]> =>
      (await call<{ tasks: Task[] }>(weir, 'ListTasks', { contextId })).tasks
    const [begun] = await eventually(async () => {
      const tasks = await list()
      expect(tasks).toMatchObject([{ status: { state: 'TASK_STATE_WORKING' } }])
      return tasks
    }, PATIENCE_MS)
    await weir.kill()
    expect(await sent).toBe('cut')
    weir = await startWeir(dataDir, ENV)
    await writeFile(gate, '')
    const id = begun?.id ?? ''
    const task = await eventually(async () => {
      const found = await call<Task>(weir, 'GetTask', { id })
      expect(found.status.state).toBe('TASK_STATE_COMPLETED')
      return found
    }, PATIENCE_MS)
    expect(task.artifacts?.[0]?.parts[0]?.text).toBeTruthy()
    expect((await list()).map((one) => one.id)).toEqual([id])
  } finally {
    await weir.stop()
  }
}, 300_000)
