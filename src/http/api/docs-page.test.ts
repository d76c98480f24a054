import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { createDocsFiles, DOCS_FILES } from './docs-files.ts'
import { DOCS_HEADERS, docsPage } from './docs-page.ts'

describe('docsPage', () => {
  it('has no code in it, loads its own files only, and allows no other', () => {
    const html = docsPage('1.2.3')
    expect(html).not.toMatch(/<script(?![^>]* src=)|<style|style=|https?:\/\//)
    const loaded = [...html.matchAll(/(?:src|href)="docs\/([\w.-]+)\?v=1\.2\.3"/g)].map(([, name]) => name)
    expect(new Set(loaded)).toEqual(new Set(DOCS_FILES))
    expect(DOCS_HEADERS['content-security-policy']).not.toMatch(/unsafe|https?:|\*/)
  })
})

describe('createDocsFiles', () => {
  it('reads every file, compressed', async () => {
    const read = createDocsFiles()
    for (const name of DOCS_FILES) expect(gunzipSync(await read(name)).length).toBeGreaterThan(500)
    expect(await read('page.css')).toBe(await read('page.css'))
  })
})
