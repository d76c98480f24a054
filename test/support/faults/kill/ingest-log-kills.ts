import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { createLogger } from '../../../../src/base/log.ts'
import { openIngestLog } from '../../../../src/ingest/log/ingest-log.ts'

const CHILD = fileURLToPath(new URL('../../stores/ingest-log-child.ts', import.meta.url))
const logger = createLogger({ level: 'silent' })

interface Round {
  acked: number[]
  got: number[]
}

/** Runs the child until it has printed `lines` lines, kills it with SIGKILL, and returns all of its output. */
async function runAndKill(dir: string, first: number, lines: number): Promise<Round> {
  const stdio = ['ignore', 'pipe', 'inherit'] as const
  const child = spawn(process.execPath, [CHILD, dir, String(first)], { stdio: [...stdio] })
  const round: Round = { acked: [], got: [] }
  let seen = 0
  for await (const line of createInterface({ input: child.stdout })) {
    const [word, number] = line.split(' ')
    const list = word === 'ack' ? round.acked : round.got
    list.push(Number(number))
    seen += 1
    if (seen === lines) child.kill('SIGKILL')
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  expect(child.signalCode).toBe('SIGKILL')
  return round
}

/** The records that a restart finds. Everything is committed, so that the next round starts with an empty log. */
async function takeRest(dir: string): Promise<{ numbers: number[]; damaged: number }> {
  const log = await openIngestLog({ dir, maxBytes: 2 ** 30, logger })
  const numbers: number[] = []
  for (;;) {
    const frames = await log.read(log.committed, 1024 * 1024)
    const last = frames.at(-1)
    if (last === undefined) break
    numbers.push(...frames.map(({ payload }) => Buffer.from(payload).readUInt32LE()))
    await log.commit(last.end)
  }
  const damaged = log.stats().damaged_bytes
  await log.close()
  return { numbers, damaged }
}

/** Registers a test that kills a process this many times while it writes an ingest log. */
export function ingestLogKills(rounds: number): void {
  it(`INGEST-1: kill -9 loses no acknowledged record and stores none twice, ${rounds} times`, async () => {
    const dir = await mkdtemp(join(tmpdir(), 'weir-log-'))
    let first = 0
    for (let round = 0; round < rounds; round++) {
      const { acked, got } = await runAndKill(dir, first, 1 + Math.floor(Math.random() * 400))
      const { numbers: rest, damaged } = await takeRest(dir)
      // A record that was read but not committed before the kill is read again, which is correct.
      const again = rest[0] === undefined ? got.length : got.findIndex((number) => number === rest[0])
      const kept = [...(again === -1 ? got : got.slice(0, again)), ...rest]
      expect(kept).toEqual(kept.map((_, index) => first + index))
      expect(acked.filter((number) => number >= first + kept.length)).toEqual([])
      expect(damaged).toBe(0)
      first += kept.length
    }
    expect(first).toBeGreaterThan(rounds)
    await rm(dir, { recursive: true })
  })
}
