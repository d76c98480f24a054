import { describe, expect, it } from 'vitest'
import { NIL_UUID } from '../../base/ids.ts'
import {
  emptyFragment,
  FRAGMENT_COLUMNS,
  type Fragment,
  RANK,
  readFragments,
  writeFragment,
} from './fragment.ts'
import { patchUuid, RowWriter } from './row-binary.ts'

const WORKSPACE = '11111111-1111-4111-8111-111111111111'
const ID = '01a1f83d-55e5-7000-8000-0387a5c1ebd1'
const PROJECT = '22222222-2222-4222-8222-222222222222'

function fragment(changes: Partial<Fragment> = {}): Fragment {
  return {
    ...emptyFragment(WORKSPACE, ID, RANK.create, 1_795_166_133_964),
    head: Buffer.from('{"name":"a"}'),
    outputs: Buffer.from('{"b":1}'),
    attachments: Buffer.from('{}'),
    ...changes,
  }
}

/** Byte fields as text, so that views can be compared with their originals. */
function plain(value: Fragment): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(value).map(([name, field]: [string, unknown]) => [
      name,
      field instanceof Uint8Array ? Buffer.from(field).toString('latin1') : field,
    ]),
  )
}

function write(...fragments: Fragment[]): { rows: Uint8Array; offsets: number[] } {
  const writer = new RowWriter()
  const offsets = fragments.map((one) => writeFragment(writer, one))
  return { rows: writer.finish(), offsets }
}

describe('writeFragment', () => {
  it('is reversed by readFragments', () => {
    const both = [fragment(), fragment({ rank: RANK.update, received_at: 5, inputs: Buffer.alloc(300, 7) })]
    const read = [...readFragments(write(...both).rows)]
    expect(read.map(plain)).toMatchObject(both.map(plain))
    expect(read.map((one) => one.hash.length)).toEqual([16, 16])
    expect(read[0]!.key).toBe(read[1]!.key)
  })

  it('reads every column', () => {
    expect([...readFragments(write(fragment()).rows)][0]).toEqual(
      expect.objectContaining(Object.fromEntries(FRAGMENT_COLUMNS.map((name) => [name, expect.anything()]))),
    )
  })

  it('has the place of the project', () => {
    const { rows, offsets } = write(fragment(), fragment())
    patchUuid(rows, offsets[1]!, PROJECT)
    expect([...readFragments(rows)].map((one) => one.project_id)).toEqual([NIL_UUID, PROJECT])
  })

  it('INGEST-3: has the same hash for any sender, time and project; another for other content', () => {
    const hash = (changes: Partial<Fragment>) => [...readFragments(write(fragment(changes)).rows)][0]!.hash
    const same = hash({})
    expect(hash({ received_at: 1, user_id: ID, api_key_id: ID, project_id: PROJECT })).toBe(same)
    expect(hash({ outputs: Buffer.from('{"b":2}') })).not.toBe(same)
    expect(hash({ inputs: Buffer.from('{"b":1}'), outputs: Buffer.alloc(0) })).not.toBe(same)
  })
})
