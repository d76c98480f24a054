import { expect, it } from 'vitest'
import { linksOf } from './first-loads.ts'

const PAGES = [
  { path: '/', files: ['assets/list-1.js'], reads: [] },
  {
    path: '/traces/{id}',
    files: ['assets/index-1.js', 'assets/trace-1.js', 'assets/trace-1.css', 'assets/letters-1.woff2'],
    reads: ['/api/v1/traces/{id}?view=outline'],
  },
]
const ID = '0198c0de-0000-7000-8000-000000000001'
const SIGNED_IN = { hasCookie: true, search: '' }

it('a page names its files and what it reads, so that a browser starts them before it runs code', () => {
  expect(linksOf(PAGES, `/traces/${ID}`, SIGNED_IN).split(', ')).toEqual([
    '</app/assets/index-1.js>; rel=modulepreload',
    '</api/v1/auth/session>; rel=preload; as=fetch; crossorigin',
    `</api/v1/traces/${ID}?view=outline>; rel=preload; as=fetch; crossorigin`,
    '</app/assets/trace-1.js>; rel=modulepreload',
    '</app/assets/trace-1.css>; rel=preload; as=style; crossorigin',
    '</app/assets/letters-1.woff2>; rel=preload; as=font; type="font/woff2"; crossorigin',
  ])
  expect(linksOf(PAGES, '/', SIGNED_IN)).toContain('list-1.js')
})

it('nothing is read for a browser without a cookie, or in a workspace that a link cannot name', () => {
  for (const who of [
    { hasCookie: false, search: '' },
    { hasCookie: true, search: `run=${ID}&ws=${ID}` },
  ])
    expect(linksOf(PAGES, `/traces/${ID}`, who)).not.toContain('/api/')
})

it('an address that is no page names nothing but the session, whatever it contains', () => {
  const session = linksOf(PAGES, '/prices', SIGNED_IN)
  expect(session).toBe('</api/v1/auth/session>; rel=preload; as=fetch; crossorigin')
  for (const path of ['/traces/x', `/traces/${ID}/`, `/traces/${ID}>; rel=x`, '/traces/%0d%0a'])
    expect(linksOf(PAGES, path, SIGNED_IN)).toBe(session)
})
