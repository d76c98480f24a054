import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readFragments } from '../../trace/rows/fragment.ts'
import { createFragmentFile } from './fragment-file.ts'
import { readInput } from './read-input.ts'
import { useFolder } from '../../../test/support/folder.ts'

let dir: string
useFolder((folder) => void (dir = folder))

const idOf = (n: number): string => `01a1f83d-5201-7000-8000-${String(n).padStart(12, '0')}`
const lineOf = (n: number, text = 'é'): string =>
  JSON.stringify({ id: idOf(n), name: text, run_type: 'chain' })

async function readText(text: string): Promise<{ runs: string[]; rejected: string[]; pieces: number }> {
  const path = join(dir, 'input')
  await writeFile(path, text)
  const read = { runs: [] as string[], rejected: [] as string[], pieces: 0 }
  await readInput(path, ({ rows, rejected }) => {
    read.pieces++
    for (const { run_id } of readFragments(rows)) read.runs.push(run_id)
    for (const { reason } of rejected) read.rejected.push(reason)
  })
  return read
}

describe('readInput', () => {
  it('reads lines in pieces, each line once and whole', async () => {
    const lines = Array.from({ length: 3000 }, (_, n) => lineOf(n, 'ä€😀'.repeat(100)))
    const { runs, rejected, pieces } = await readText(lines.join('\n'))
    expect(runs).toEqual(lines.map((_, n) => idOf(n)))
    expect(rejected).toEqual([])
    expect(pieces).toBeGreaterThan(2)
  })

  it('counts the lines of all pieces', async () => {
    const lines = Array.from({ length: 3000 }, (_, n) => lineOf(n, 'x'.repeat(1000)))
    lines[2500] = '{"id":'
    expect((await readText(`${lines.join('\r\n')}\r\n`)).rejected).toEqual(['Line 2501 is not JSON.'])
  })

  it.each([
    ['one run', lineOf(1)],
    ['one run and a line break', `${lineOf(1)}\n\n`],
    ['a run over lines', JSON.stringify(JSON.parse(lineOf(1)), null, 2)],
  ])('reads %s whole', async (_, text) => {
    expect(await readText(text)).toEqual({ runs: [idOf(1)], rejected: [], pieces: 1 })
  })

  it.each([
    ['missing', 'There is no such file.'],
    ['.', 'It is a folder: name the files in it.'],
  ])('gives the reason why %s cannot be read', async (name, message) => {
    await expect(readInput(join(dir, name), () => {})).rejects.toMatchObject({
      code: 'invalid_request',
      message,
    })
  })
})

describe('a file of fragments', () => {
  it('returns those of a run from several pieces, and none of an unknown run', async () => {
    const file = createFragmentFile()
    const path = join(dir, 'fragments')
    for (const text of [`${lineOf(1)}\n${lineOf(2)}\n`, `{"patch":[${lineOf(1, 'b')}]}`]) {
      await writeFile(path, text)
      await readInput(path, ({ rows }) => file.add(rows))
    }
    expect([...file.ids()]).toEqual([idOf(1), idOf(2)])
    expect(file.of(idOf(1)).map(({ run_id, head }) => [run_id, Buffer.from(head).toString()])).toEqual([
      [idOf(1), expect.stringContaining('"é"')],
      [idOf(1), expect.stringContaining('"b"')],
    ])
    expect(file.of(idOf(3))).toEqual([])
    file.close()
  })
})
