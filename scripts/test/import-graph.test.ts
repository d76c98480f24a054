import { describe, expect, it } from 'vitest'
import { distancesTo, readImportGraph } from './import-graph.ts'

const FILES = new Map([
  ['src/base/clock.ts', ''],
  ['src/main.ts', "import { now } from './base/clock.ts'"],
  ['src/other.ts', ''],
  ['test/support/process.ts', "spawn(new URL('../../src/main.ts', import.meta.url))"],
  ['test/long/kill.test.ts', "import { start } from '../support/process.ts'"],
  ['test/long/graphs.test.ts', "const PROJECT = 'test/fixtures/graphs'"],
  ['test/fixtures/graphs/agent.py', ''],
  ['test/long/alone.test.ts', "const room = 'src/'; import 'vitest'"],
])

describe('how far a test file is from a change', () => {
  const graph = readImportGraph(FILES)

  it('counts imports, and the entry files of processes that the test starts', () => {
    const distances = distancesTo(['src/base/clock.ts'], graph)
    expect(distances.get('test/long/kill.test.ts')).toBe(3)
    expect(distances.get('src/main.ts')).toBe(1)
  })

  it('counts every file of a fixture folder that the test names', () => {
    expect(distancesTo(['test/fixtures/graphs/agent.py'], graph).get('test/long/graphs.test.ts')).toBe(1)
  })

  it('is 0 for a changed test, and unknown for a test that needs nothing of the change', () => {
    const distances = distancesTo(['test/long/kill.test.ts', 'src/other.ts'], graph)
    expect(distances.get('test/long/kill.test.ts')).toBe(0)
    expect(distances.has('test/long/alone.test.ts')).toBe(false)
  })

  it('ends with files that import each other', () => {
    const circle = new Map([
      ['a.ts', ['b.ts']],
      ['b.ts', ['a.ts']],
    ])
    expect(distancesTo(['a.ts'], circle)).toEqual(
      new Map([
        ['a.ts', 0],
        ['b.ts', 1],
      ]),
    )
  })
})
