const NAMED: ReadonlyMap<string, string> = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
  ['nbsp', '\u00a0'],
  ['ndash', '–'],
  ['mdash', '—'],
  ['hellip', '…'],
  ['copy', '©'],
])
const ENTITY = /&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|(\w+));/g
const MAX_CODE = 0x10_ff_ff

/** Decodes the HTML entities that texts and addresses of Markdown may contain. Code has none. */
export function unescaped(text: string): string {
  return text.replace(ENTITY, (whole, decimal?: string, hex?: string, name = '') => {
    const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal)
    return Number.isNaN(code) ? (NAMED.get(name) ?? whole) : String.fromCodePoint(Math.min(code, MAX_CODE))
  })
}

/** The address of a link to a page or a mailbox; undefined for every other kind. */
export function safeUrl(href: string): URL | undefined {
  const url = URL.parse(href)
  return url !== null && ['http:', 'https:', 'mailto:'].includes(url.protocol) ? url : undefined
}
