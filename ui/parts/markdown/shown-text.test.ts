import { expect, it } from 'vitest'
import { safeUrl, unescaped } from './shown-text.ts'

it.each([
  ['a &amp; b &lt;c&gt; &quot;&apos;', 'a & b <c> "\''],
  ['&#39; &#x27; &#X1F600;', "' ' \u{1F600}"],
  ['http://a.b/?x=1&amp;y=2', 'http://a.b/?x=1&y=2'],
  ['&other; &constructor; &toString; &#; &#xZ; &', '&other; &constructor; &toString; &#; &#xZ; &'],
])('decodes the entities of %j and keeps all else', (text, shown) => {
  expect(unescaped(text)).toBe(shown)
})

it.each([
  ['https://a.b/c', true],
  ['mailto:ada@acme.test', true],
  ['javascript:alert(1)', false],
  ['java&#115;cript:alert(1)', false],
  ['/relative', false],
])('%s is a link: %s', (href, isLink) => {
  expect(safeUrl(unescaped(href)) !== undefined).toBe(isLink)
})
