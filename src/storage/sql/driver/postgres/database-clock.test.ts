import { expect, it, onTestFinished } from 'vitest'
import { createLogger } from '../../../../base/log.ts'
import { eventually } from '../../../../../test/support/eventually.ts'
import { startDatabaseClock } from './database-clock.ts'

/**
 * A database whose clock is `ahead` milliseconds ahead of the machine's, and whose answers take `late` milliseconds.
 */
function createDatabase() {
  const server = { ahead: 0, late: 0, down: false, time: 50_000, reads: 0 }
  const machine = { now: () => Number.NaN, steady: () => server.time - 12_345.625 }
  const query = async <Row>(): Promise<Row[]> => {
    server.reads++
    if (server.down) throw new Error('down')
    server.time += server.late / 2
    const now = server.time + server.ahead
    server.time += server.late / 2
    return [{ now }] as Row[]
  }
  const stops = new AsyncDisposableStack()
  onTestFinished(() => stops.disposeAsync())
  const parts = { logger: createLogger({ level: 'silent' }), stops, everyMs: 1, durations: machine }
  const start = () => startDatabaseClock({ dialect: 'postgres', query }, parts)
  const readAgain = async (): Promise<void> => {
    const wanted = server.reads + 2
    await eventually(async () => expect(server.reads).toBeGreaterThanOrEqual(wanted))
  }
  return { server, start, readAgain }
}

it("has the database's time, whatever time of day the machine has", async () => {
  const { server, start } = createDatabase()
  server.ahead = 1e12
  const clock = await start()
  expect(clock.now()).toBe(1e12 + 50_000)
  server.time += 700
  expect(clock.now()).toBe(1e12 + 50_700)
})

it('follows a database whose clock is set, and goes on while the database is down', async () => {
  const { server, start, readAgain } = createDatabase()
  const clock = await start()
  server.ahead = -60_000
  await readAgain()
  expect(clock.now()).toBe(server.time - 60_000)
  server.down = true
  await readAgain()
  server.time += 10
  expect(clock.now()).toBe(server.time - 60_000)
})

it('does not jump by less than a reading may be wrong', async () => {
  const { server, start, readAgain } = createDatabase()
  const clock = await start()
  server.late = 100
  server.ahead = 40
  await readAgain()
  expect(clock.now()).toBe(server.time)
})
