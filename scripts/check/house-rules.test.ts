import { describe, expect, it } from 'vitest'
import {
  citedRules,
  findCrowdedFolders,
  findHomonyms,
  findLostPlaces,
  findSmallFiles,
  findUncitedRules,
  findWalkFaults,
  MAX_FILES,
} from './house-rules.ts'

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

  it('differ between files of the web interface', () => {
    const [view, data] = ['ui/views/usage/range.tsx', 'ui/data/range.ts'].map((path) => ({
      path,
      text: 'export interface Range {}\n',
    }))
    expect(findHomonyms([view!, data!], NONE)).toEqual([
      `Range is exported by ${view!.path} and ${data!.path}`,
    ])
  })
})

describe('folders', () => {
  it('hold no three files with one prefix', () => {
    const three = ['src/runs/run.ts', 'src/runs/run-store.ts', 'src/runs/run-end.ts', 'src/runs/running.ts']
    expect(findCrowdedFolders(three, NONE)).toEqual(['3 files begin with src/runs/run: make it a folder'])
    expect(findCrowdedFolders(three.slice(1), NONE)).toEqual([])
    expect(findCrowdedFolders(three, new Set(['src/runs/run']))).toEqual([])
  })

  it('may hold the styles and the test of a file that has their prefix', () => {
    const files = [
      'ui/parts/tree.tsx',
      'ui/parts/tree.module.css',
      'ui/parts/tree.test.ts',
      'ui/parts/tree-row.tsx',
    ]
    expect(findCrowdedFolders(files, NONE)).toEqual([])
  })

  it('hold at most the allowed number of files, without those of subfolders', () => {
    const many = Array.from({ length: MAX_FILES + 1 }, (_, i) => `src/runs/${String.fromCharCode(97 + i)}.ts`)
    expect(findCrowdedFolders(many, NONE)).toEqual([
      `src/runs has ${MAX_FILES + 1} files, at most ${MAX_FILES} are read together`,
    ])
    expect(findCrowdedFolders([...many.slice(1), 'src/runs/streams/a.ts'], NONE)).toEqual([])
  })
})

describe('short files', () => {
  const short = { path: 'src/runs/due.ts', text: 'export const due = 1\n' }
  const importer = { path: 'src/runs/worker.ts', text: "import { due } from './due.ts'\n".padEnd(99, '\n') }

  it('belong into the only file that imports them', () => {
    expect(findSmallFiles([short, importer], NONE)).toEqual([
      'src/runs/due.ts has fewer than 25 lines and is imported by src/runs/worker.ts alone: put it there',
    ])
  })

  it('may have another importer, one in another folder, more lines, or a reason', () => {
    const other = { path: 'src/runs/other.ts', text: "export type { due } from './due.ts'\n" }
    const far = { path: 'src/http/a.ts', text: "await import('../runs/due.ts')\n" }
    const long = { ...short, text: `${'\n'.repeat(24)}export const due = 1\n` }
    expect(findSmallFiles([short, importer, other], NONE)).toEqual([])
    expect(findSmallFiles([short, far], NONE)).toEqual([])
    expect(findSmallFiles([long, importer], NONE)).toEqual([])
    expect(findSmallFiles([short, importer], new Set([short.path]))).toEqual([])
  })
})

describe('walks in ARCHITECTURE.md', () => {
  const files = new Set(['src/a/b.ts', 'src/a/c.ts'])
  const page = (...walks: string[]): string => `## Five walks\n\n${walks.join('\n\n')}\n\n## Next\n`
  const good = '**One** (at most 2): `a/b.ts`, `a/c.ts`.'

  it('name existing files, and no more than the heading allows', () => {
    expect(findWalkFaults(page(good, good, good, good, good), files)).toEqual([])
    const faulty = page(
      good,
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

  it('are five', () => {
    expect(findWalkFaults(page(good), files)).toEqual(['ARCHITECTURE.md has 1 walks, not 5'])
  })
})

it('the table of places in ARCHITECTURE.md names files that exist, some below a folder of their row', () => {
  const files = new Set(['src/a/b/c.ts'])
  const rows = '## Where does X go?\n\n| x | `a/b/c.ts` |\n| y | `a/`: `b/c.ts`; `b/d.ts`, `c.ts` |\n'
  expect(findLostPlaces(`\`z/z.ts\`\n${rows}`, files)).toEqual([
    'ARCHITECTURE.md, Where does X go?: there is no b/d.ts',
  ])
})

describe('numbers of rules', () => {
  const page = '| D-1 | First. |\n| N2 | Second. |\n- **AUTH-3** Third.\n'

  it('are found in titles of tests, in ranges, and in titles of tables', () => {
    const text = [
      "it('D-1, P-4 to P-6: holds', async () => {})",
      "['N2: a total', { input: 1 }],",
      "call('D-9', 'not a title')",
    ].join('\n')
    expect(citedRules([text])).toEqual(new Set(['D-1', 'P-4', 'P-5', 'P-6', 'N2']))
  })

  it('must be cited, unless they are excepted', () => {
    expect(findUncitedRules(page, new Set(['D-1']), NONE)).toEqual([
      'no title of a test cites N2',
      'no title of a test cites AUTH-3',
    ])
    expect(findUncitedRules(page, new Set(['D-1', 'N2']), new Set(['AUTH-3']))).toEqual([])
  })

  it('may stand together in one row', () => {
    const rows = '| V-1, V-2 | Both. |\n| V-4 to V-6 | Three. |\n'
    expect(findUncitedRules(rows, new Set(['V-1', 'V-5', 'V-6']), NONE)).toEqual([
      'no title of a test cites V-2',
      'no title of a test cites V-4',
    ])
  })
})
