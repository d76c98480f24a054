import { expect, it } from 'vitest'
import { contentParts } from './content.ts'

it.each([
  ['Python', { type: 'file', base64: 'AAAA', mime_type: 'application/pdf', extras: { filename: 'a.pdf' } }],
  ['JavaScript', { type: 'file', data: 'AAAA', mimeType: 'application/pdf', metadata: { name: 'a.pdf' } }],
  ['OpenAI', { type: 'file', file: { file_data: 'data:application/pdf;base64,AAAA', filename: 'a.pdf' } }],
  [
    'Anthropic',
    { type: 'document', filename: 'a.pdf', source: { data: 'AAAA', media_type: 'application/pdf' } },
  ],
])('A2A-7: a file in the form of %s is a file part', (_, block) => {
  expect(contentParts([block])).toEqual([
    { file: { raw: 'AAAA' }, mediaType: 'application/pdf', filename: 'a.pdf' },
  ])
})

it('A2A-7: an address stays one', () => {
  const block = { type: 'image', url: 'https://example.test/a.png', mimeType: 'image/png' }
  expect(contentParts([block])).toEqual([
    { file: { url: 'https://example.test/a.png' }, mediaType: 'image/png' },
  ])
})
