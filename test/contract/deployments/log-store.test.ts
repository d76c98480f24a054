import { beforeEach, expect, it } from 'vitest'
import {
  type DeploymentLogStore,
  MAX_MESSAGE_BYTES,
  type NewLogLine,
} from '../../../src/deploy/stores/log-lines.ts'
import { createDeploymentLogStore } from '../../../src/storage/sql/deployments/log-store.ts'
import { describeOnSql } from '../../support/stores/sql/sql-databases.ts'
import { testClock } from '../../support/faults/test-clock.ts'

const line = (message: string, fields: Partial<NewLogLine> = {}): NewLogLine => ({
  revision_id: 'r',
  kind: 'build',
  level: 'INFO',
  message,
  ...fields,
})
const MAX_BYTES = 8 * MAX_MESSAGE_BYTES
const ALL = { kinds: ['build', 'deploy', 'server'], order: 'asc', limit: 100 } as const

describeOnSql('logs of deployments', (engine) => {
  let store: DeploymentLogStore
  let now: number
  beforeEach(async () => {
    now = 1_700_000_000_000
    const database = await engine.openPlatform()
    store = createDeploymentLogStore(
      database,
      testClock(() => now),
      MAX_BYTES,
    )
  })
  const messages = async (query: object = {}, id = 'd') =>
    (await store.read(id, { ...ALL, ...query })).map(({ message }) => message)

  it('P-40: times are unique and rise, also of lines of one moment and when the clock goes back', async () => {
    const many = Array.from({ length: 250 }, (_, i) => line(String(i)))
    await Promise.all([store.append('d', many), store.append('d', many)])
    now -= 60_000
    await store.append('d', [line('last')])
    await store.append('other', [line('of another')])
    const lines = await store.read('d', { ...ALL, limit: 1000 })
    expect([await store.newest('d'), await store.newest('none')]).toEqual([lines.at(-1)?.at_us, 0])
    expect(lines.at(-1)?.message).toBe('last')
    expect(lines[0]?.at_us).toBe(1_700_000_000_000_000)
    expect(new Set(lines.map(({ at_us }) => at_us)).size).toBe(501)
    expect(lines.slice(0, 250).map(({ message }) => message)).toEqual(many.map(({ message }) => message))
  })

  it('a cursor goes on where a page ended, in both orders', async () => {
    await store.append(
      'd',
      ['a', 'b', 'c'].map((text) => line(text)),
    )
    for (const [order, all] of [
      ['asc', ['a', 'b', 'c']],
      ['desc', ['c', 'b', 'a']],
    ] as const) {
      const page = await store.read('d', { ...ALL, order, limit: 2 })
      expect(page.map(({ message }) => message)).toEqual(all.slice(0, 2))
      expect(await messages({ order, after_us: page[1]!.at_us })).toEqual(all.slice(2))
      expect(await messages({ order, from_us: page[1]!.at_us, to_us: page[1]!.at_us })).toEqual([all[1]])
    }
  })

  it('lines are found by kind, revision, level and text', async () => {
    await store.append('d', [
      line('Build'),
      line('Started', { kind: 'deploy', revision_id: 's' }),
      line('100% Failed', { kind: 'server', level: 'ERROR' }),
      line('careful', { level: 'WARNING' }),
    ])
    expect(await messages({ kinds: ['deploy', 'server'] })).toEqual(['Started', '100% Failed'])
    expect(await messages({ revision_id: 's' })).toEqual(['Started'])
    expect(await messages({ level: 'WARNING' })).toEqual(['100% Failed', 'careful'])
    expect(await messages({ text: '% FAIL' })).toEqual(['100% Failed'])
    expect(await messages({ text: '' })).toHaveLength(4)
    await store.append('foreign', [line('Écrit dans la base')])
    for (const text of ['Écrit', 'Écrit DANS']) expect(await messages({ text }, 'foreign')).toHaveLength(1)
    expect(await messages({}, 'other')).toEqual([])
  })

  it('P-39: a log stays within its limit while lines are added, without waiting for a trim', async () => {
    const long = 'x'.repeat(MAX_MESSAGE_BYTES)
    await store.append('other', [line('small')])
    for (let i = 10; i < 50; i++) {
      await store.append('d', [line(`${i} ${long}`)])
      const lines = await store.read('d', { ...ALL, order: 'desc' })
      expect(lines.length * MAX_MESSAGE_BYTES).toBeLessThanOrEqual(MAX_BYTES * 1.25)
      expect(lines.map(({ message }) => Number(message.slice(0, 2)))).toEqual(
        Array.from(lines, (_, age) => i - age),
      )
    }
    expect((await messages()).length).toBeGreaterThan(4)
    expect(await messages({}, 'other')).toEqual(['small'])
  })

  it('old lines are deleted, then the oldest ones beyond the limit; long messages are cut', async () => {
    await store.append('d', [line('old')])
    now += 10
    await store.append(
      'd',
      Array.from({ length: 10 }, (_, i) => line(`${i}${'ä'.repeat(MAX_MESSAGE_BYTES)}`)),
    )
    await store.append('other', [line('small')])
    const [first = ''] = await messages({ text: 'ää' })
    expect(Buffer.byteLength(first)).toBeLessThan(MAX_MESSAGE_BYTES + 4)
    expect(first).toMatch(/ä…$/)
    await store.trim(now * 1000)
    const left = (await messages()).map((message) => message[0])
    expect(left).toEqual(['5', '6', '7', '8', '9'])
    expect(await messages({}, 'other')).toEqual(['small'])
  })
})
