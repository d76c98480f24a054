import { expect, it } from 'vitest'
import { COMPONENT_PAGE_HEADERS, componentFault, componentPage } from './component-page.ts'

it('D-64: a page of components has no origin, and loads from its own server only', () => {
  const policy = String(COMPONENT_PAGE_HEADERS['content-security-policy'])
  expect(policy).toMatch(/^sandbox allow-scripts; default-src 'none'; /)
  expect(policy).not.toMatch(/allow-same-origin|connect-src|https?:|unsafe-eval/)
})

it('loads the script of Weir before the bundle, with names as text', () => {
  const html = componentPage('a "graph"/1', ['entrypoint.js', 'entrypoint.css', 'logo.png', '"><x.css'])
  expect(html).toContain('data-graph="a &quot;graph&quot;/1"')
  const place = 'a%20%22graph%22%2F1'
  expect([...html.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, url]) => url)).toEqual([
    `${place}/entrypoint.css`,
    `${place}/&quot;&gt;&lt;x.css`,
    `${place}/component-frame.js`,
    `${place}/entrypoint.js`,
  ])
})

it('shows why there are no components as text', () => {
  expect(componentFault('g', '<b>no</b>')).toContain('<p>&lt;b&gt;no&lt;/b&gt;</p>')
})
