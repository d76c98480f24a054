import { expect, it } from 'vitest'
import { mediaLink } from './media.ts'

const LINK = {
  $media: '/api/v1/runs/0195f3a0-0000-7000-8000-000000000001/media?path=%2Finputs%2Ffile',
  size: 6008,
  mime: 'image/png',
}

it('N14: a link of the server is followed', () => {
  expect(mediaLink(LINK)).toEqual(LINK)
})

it.each([
  'https://spy.example/x.png',
  '//spy.example/api/v1/runs/0195f3a0-0000-7000-8000-000000000001/media?path=x',
  '/api/v1/runs/0195f3a0-0000-7000-8000-000000000001/../../sessions?path=x',
  '/api/v1/runs/0195f3a0-0000-7000-8000-000000000001/media?path=x&media=y',
  '/app/',
  42,
])('N14: what a run contains in its place is not: %s', ($media) => {
  expect(mediaLink({ ...LINK, $media })).toBeUndefined()
})

it.each([null, 'text', [], {}, { ...LINK, mime: undefined }])('N14: nor is %j', (value) => {
  expect(mediaLink(value)).toBeUndefined()
})
