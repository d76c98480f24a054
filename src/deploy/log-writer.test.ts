import { afterEach, describe, expect, it, vi } from 'vitest'
import { createLogger } from '../base/log.ts'
import { createDeploymentLog, printedLine } from './log-writer.ts'
import type { NewLogLine } from './stores/log-lines.ts'
import { NOW, testClock } from '../../test/support/faults/test-clock.ts'

function open(append: (lines: readonly NewLogLine[]) => Promise<void> = async () => undefined) {
  const stored: NewLogLine[] = []
  let now = NOW
  const log = createDeploymentLog({
    store: {
      async append(_id, lines) {
        await append(lines)
        stored.push(...lines)
      },
    },
    clock: testClock(() => now),
    logger: createLogger({ level: 'silent' }),
  })
  const write = (message: string, kind: NewLogLine['kind'] = 'server', host = 1): void =>
    log.write('d', { revision_id: null, kind, level: 'INFO', message }, host)
  return { log, stored, write, passSecond: () => void (now += 1000) }
}

describe('the log of a deployment', () => {
  afterEach(() => void vi.useRealTimers())

  it('P-39: a host that prints too much leaves the others their lines', async () => {
    const { log, stored, write } = open()
    for (let i = 0; i < 600; i++) write(`loud ${i}`, 'server', 1)
    for (let i = 0; i < 500; i++) write(`calm ${i}`, 'server', 2)
    await log.flushed()
    const of = (word: string): number => stored.filter(({ message }) => message.startsWith(word)).length
    expect([of('loud'), of('calm')]).toEqual([500, 500])
  })

  it('P-39: lines count in their second also after earlier ones are stored', async () => {
    const { log, stored, write, passSecond } = open()
    for (let i = 0; i < 500; i++) write(`line ${i}`)
    await log.flushed()
    for (let i = 0; i < 100; i++) write(`too many ${i}`)
    await log.flushed()
    expect(stored.filter(({ level }) => level === 'INFO')).toHaveLength(500)
    passSecond()
    write('later')
    await log.flushed()
    expect(stored.at(-1)).toMatchObject({ message: 'later' })
  })

  it.each(['a second later', 'when the log is flushed'])(
    'P-39: lines that were dropped last are reported %s, without any further line',
    async (when) => {
      vi.useFakeTimers()
      const { log, stored, write } = open()
      for (let i = 0; i < 510; i++) write(`line ${i}`)
      if (when === 'a second later') await vi.advanceTimersByTimeAsync(1_000)
      else await log.flushed()
      expect(stored).toHaveLength(501)
      expect(stored.at(-1)).toMatchObject({
        level: 'WARNING',
        message: expect.stringMatching(/^10 lines were/),
      })
      await vi.advanceTimersByTimeAsync(2_000)
      expect(stored).toHaveLength(501)
    },
  )

  it('P-39: beyond 500 printed lines a second, lines are dropped, and one says how many', async () => {
    const { log, stored, write, passSecond } = open()
    for (let i = 0; i < 600; i++) write(`line ${i}`)
    write('a state', 'deploy')
    await log.flushed()
    expect(stored.filter(({ kind }) => kind === 'server')).toHaveLength(501)
    expect(stored.map(({ message }) => message)).toContain(
      '100 lines were dropped: more than 500 in a second, or than 4000 that wait to be stored.',
    )
    passSecond()
    write('later')
    await log.flushed()
    expect(stored.at(-1)?.message).toBe('later')
  })

  it('goes on after lines that the store did not take', async () => {
    let fails = true
    const { log, stored, write } = open(() => (fails ? Promise.reject(new Error('down')) : Promise.resolve()))
    write('lost')
    await log.flushed()
    fails = false
    write('kept')
    await log.flushed()
    expect(stored.map(({ message }) => message)).toEqual(['kept'])
  })

  it.each([
    ['stdout', 'plain', 'INFO'],
    ['stderr', 'plain', 'WARNING'],
    ['stdout', '{"level":"error","msg":"x"}', 'ERROR'],
    ['stderr', '{"level":"warn"}', 'WARNING'],
    ['stderr', '{"level":30}', 'WARNING'],
    ['stdout', '{broken', 'INFO'],
  ] as const)('P-41: a line on %s, %s, has the level %s', (from, text, level) => {
    expect(printedLine(from, text)).toEqual({ level, message: text })
  })
})
