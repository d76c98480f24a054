import { expect, it } from 'vitest'
import { linesCsv } from './csv.ts'

it('a report by a key is CSV, in which no value is a formula and traces without the key have none', () => {
  const line = (metadata_value: string | null, value: string | null, unpriced = 0) => ({
    time_bucket: '2026-03-01T00:00:00Z',
    dimensions: { metadata_value },
    value,
    unpriced,
  })
  const lines = [line('=1+1', '0.5'), line('a,"b"', null, 2), line(null, '1')]
  expect(linesCsv('user_id', 'cost', { days: 1, hours: 0 }, lines).split('\r\n')).toEqual([
    'Time Bucket Start,Time Bucket End,user_id,Total Cost,Unpriced Runs',
    '2026-03-01T00:00:00Z,2026-03-02T00:00:00Z,\t=1+1,0.5,0',
    '2026-03-01T00:00:00Z,2026-03-02T00:00:00Z,"a,""b""",,2',
    '2026-03-01T00:00:00Z,2026-03-02T00:00:00Z,,1,0',
    '',
  ])
})
