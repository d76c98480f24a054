import { describe, expect, it } from 'vitest'
import { findCrowdedFolders, findHomonyms, findWalkFaults, MAX_FILES } from './house-rules.ts'

const NONE: ReadonlySet<string> = new Set()

describe('names that rooms export', () => {
  const files = [
    { path: 'src/events/place.ts', text: 'export interface Place {\n}\n' },
    { path: 'src/storage/sql/rows.ts', text: "import 'x'\n\nexport type Place = string\n" },
  ]

  it('must differ between rooms', () => {
    expect(findHomonyms(files, NONE)).toEqual([
      'Place is exported by src/events/place.ts and src/storage/sql/rows.ts',
    ])
  })

  it.each([
    'export const Place = 1',
    'export async function Place() {}',
    'export function* Place() {}',
    'export abstract class Place {}',
    'export enum Place {}',
  ])('are found in `%s`', (text) => {
    expect(findHomonyms([...files.slice(0, 1), { path: 'processors/a.ts', text }], NONE)).toHaveLength(1)
  })

  it('may be the same within a room, in an exported member, in a re-export, and in the list of exceptions', () => {
    const within = { path: 'src/events/store.ts', text: 'export type Place = string\n' }
    const passedOn = { path: 'src/runs/a.ts', text: "export { Place } from '../events/place.ts'\n" }
    const inner = {
      path: 'src/runs/b.ts',
      text: 'type Place = string\nexport interface Found { Place: Place }\n',
    }
    const top = { path: 'src/main.ts', text: 'export const Place = 1\n' }
    expect(findHomonyms([...files.slice(0, 1), within, passedOn, inner, top], NONE)).toEqual([])
    expect(findHomonyms(files, new Set(['Place']))).toEqual([])
  })
})

describe('folders', () => {
  it('hold no three files with one prefix', () => {
    const three = ['src/runs/run.ts', 'src/runs/run-store.ts', 'src/runs/run-end.ts', 'src/runs/running.ts']
    expect(findCrowdedFolders(three, NONE)).toEqual(['3 files begin with src/runs/run: make it a folder'])
    expect(findCrowdedFolders(three.slice(1), NONE)).toEqual([])
    expect(findCrowdedFolders(three, new Set(['src/runs/run']))).toEqual([])
  })

  it('hold at most the allowed number of files, without those of subfolders', () => {
    const many = Array.from({ length: MAX_FILES + 1 }, (_, i) => `src/runs/${String.fromCharCode(97 + i)}.ts`)
    expect(findCrowdedFolders(many, NONE)).toEqual([
      `src/runs has ${MAX_FILES + 1} files, at most ${MAX_FILES} are read together`,
    ])
    expect(findCrowdedFolders([...many.slice(1), 'src/runs/streams/a.ts'], NONE)).toEqual([])
  })
})

describe('walks in ARCHITECTURE.md', () => {
  const files = new Set(['src/a/b.ts', 'src/a/c.ts'])
  const page = (...walks: string[]): string => `## Four walks\n\n${walks.join('\n\n')}\n\n## Next\n`
  const good = '**One** (at most 2): `a/b.ts`, `a/c.ts`.'

  it('name existing files, and no more than the heading allows', () => {
    expect(findWalkFaults(page(good, good, good, good), files)).toEqual([])
    const faulty = page(
      good,
      good,
      '**Two** (at most 2; as above): `a/d.ts`',
      '**Three** (at most 1): `a/b.ts`, `a/c.ts`',
    )
    expect(findWalkFaults(faulty, files)).toEqual([
      'ARCHITECTURE.md, Two: there is no src/a/d.ts',
      'ARCHITECTURE.md, Three: 2 files',
    ])
  })

  it('are four', () => {
    expect(findWalkFaults(page(good), files)).toEqual(['ARCHITECTURE.md has 1 walks, not 4'])
  })
})
