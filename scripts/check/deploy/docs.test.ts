import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { checkPrinted } from './docs.ts'

let dir: string
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'weir-docs-'))
})
afterAll(() => rm(dir, { recursive: true }))

// A program that is missing here is skipped with its name.
it.each([
  ['block.sh', 'if true', 'bash', 'syntax error'],
  ['block.json', '{ "a": }', '', 'JSON'],
  ['block.yaml', 'unknown: 1', '', 'no program is known'],
  ['block.yaml', 'groups: [{ name: a, rules: [{ alert: A, expr: "up ==" }] }]', 'promtool', 'parse error'],
  ['block.yaml', 'scrape_configs: [{ job: a }]', 'promtool', 'field job not found'],
  [
    'block.yaml',
    'services: { a: { image: b, healthcheck: { test: [{ c: d }] } } }',
    'compose',
    'must be a string',
  ],
  ['block.yaml', 'on: push\njobs: { a: { steps: [{ name: b }] } }', '', 'needs either "uses" or "run"'],
  ['block.yaml', 'on: push\njobs: { a: { steps: [{ run: "if true" }] } }', 'bash', 'syntax error'],
  ['values.yaml', 'image: { repository: "" }', 'Helm', 'repository'],
  [
    'block.nginx',
    'server { listen 443 ssl; proxy_bufering off; }',
    'nginx',
    'unknown directive "proxy_bufering"',
  ],
  ['haproxy.cfg', 'frontend weir\n  bund :8000\n', 'haproxy', 'bund'],
  ['block.ini', '[Unit]\n[Service]\nExecStart=/usr/bin/weir\nKillMod=mixed\n', 'systemd', "'KillMod'"],
  ['weir.env', 'DATABASE_CONNECTION=5', '', 'no setting: DATABASE_CONNECTION'],
  ['weir.env', 'cat <<END\nPORT=$(echo x)\nEND', '', 'PORT: must be'],
])('finds the fault of %s: %s', async (file, text, program, fault) => {
  const report = await checkPrinted({ at: 'page.md:1', file, text }, join(dir, crypto.randomUUID()))
  const missing = report.skipped.filter((reason) => program !== '' && reason.includes(program))
  if (missing.length > 0) expect(report).toEqual({ problems: [], skipped: missing })
  else expect(report.problems.join()).toContain(fault)
})
