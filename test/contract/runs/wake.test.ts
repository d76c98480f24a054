import { describe, expect, it, onTestFinished } from 'vitest'
import { createLogger } from '../../../src/base/log.ts'
import type { WakeMessage } from '../../../src/runs/execute/wake.ts'
import { openPostgres } from '../../../src/storage/sql/driver/postgres.ts'
import { createPostgresWake } from '../../../src/storage/sql/driver/postgres/wake.ts'
import { eventually } from '../../support/eventually.ts'
import { postgresDatabases } from '../../support/stores/sql/postgres-databases.ts'
import { withoutPostgres } from '../../support/stores/sql/postgres.ts'

const reason = withoutPostgres()

describe.skipIf(reason !== '')(`wake over Postgres${reason}`, () => {
  const databases = postgresDatabases()

  async function openProcesses(count: number) {
    const url = await databases.take()
    onTestFinished(() => databases.giveBack(url))
    const database = openPostgres(url)
    const logger = createLogger({ level: 'silent' })
    const processes = Array.from({ length: count }, () => {
      const heard: WakeMessage[] = []
      const wake = createPostgresWake({ url, database, logger, retryMs: 10 })
      wake.listen((message) => heard.push(message))
      onTestFinished(() => wake.close())
      return {
        wake,
        heard,
        only: (kind: WakeMessage['kind']) => heard.filter((message) => message.kind === kind),
      }
    })
    onTestFinished(() => database.close())
    await eventually(async () => expect(processes.every(({ heard }) => heard.length > 0)).toBe(true))
    return { database, processes }
  }

  it('notifies all other servers, and not the sender', async () => {
    const { processes } = await openProcesses(3)
    const [first, second, third] = processes
    const message: WakeMessage = { kind: 'cancel', deployment_id: 'd', run_id: 'r', action: 'rollback' }
    first?.wake.send(message)
    first?.wake.send({ kind: 'work' })
    first?.wake.send({ kind: 'work' })
    for (const other of [second, third]) {
      await eventually(async () => expect(other?.only('work').length).toBe(1))
      expect(other?.only('cancel')).toEqual([message])
    }
    expect(first?.heard).toEqual([{ kind: 'missed' }])
  })

  it('sends thousands of messages of one turn', async () => {
    const { processes } = await openProcesses(2)
    for (let n = 0; n < 3000; n++)
      processes[0]?.wake.send({ kind: 'ended', deployment_id: 'd', run_id: `run-${n}` })
    await eventually(async () => expect(processes[1]?.only('ended').length).toBe(3000))
  })

  it('reports possibly missed messages when its connection was lost', async () => {
    const { database, processes } = await openProcesses(2)
    await database.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'weir-wake'",
    )
    for (const { only } of processes) await eventually(async () => expect(only('missed').length).toBe(2))
    processes[0]?.wake.send({ kind: 'work' })
    await eventually(async () => expect(processes[1]?.only('work').length).toBe(1))
  })
})
