import fc from 'fast-check'
import { expect, it } from 'vitest'
import { tries } from '../../../test/support/properties.ts'
import { newUuid } from '../../base/ids.ts'
import { emptyFragment, readFragment, writeFragment } from './fragment.ts'
import { byStoredId, withKeepDays } from './kept-fragments.ts'
import { RowReader, RowWriter } from './row-binary.ts'

const PROJECTS = [newUuid(), newUuid(), newUuid()]
const DAYS = new Map([
  [PROJECTS[0]!, 14],
  [PROJECTS[1]!, 70_000],
])

it('every row is followed by the retention of its project', () => {
  const bytes = fc.uint8Array({ maxLength: 300 })
  const fragment = fc.record({
    project: fc.integer({ min: 0, max: 2 }),
    head: bytes,
    inputs: bytes,
    attachments: bytes,
  })
  fc.assert(
    fc.property(fc.array(fragment, { maxLength: 5 }), (fragments) => {
      const writer = new RowWriter()
      for (const { project, ...content } of fragments)
        writeFragment(writer, {
          ...emptyFragment(newUuid(), newUuid(), 1, 1),
          ...content,
          project_id: PROJECTS[project]!,
        })
      const rows = writer.finish()
      const reader = new RowReader(withKeepDays(rows, byStoredId(DAYS)))
      const copied: Uint8Array[] = []
      const days = fragments.map(() => {
        copied.push(readFragment(reader).row)
        return reader.u16()
      })
      expect(reader.done).toBe(true)
      expect(Buffer.concat(copied).equals(rows)).toBe(true)
      expect(days).toEqual(fragments.map(({ project }) => (project === 0 ? 14 : 0)))
    }),
    tries(),
  )
})
