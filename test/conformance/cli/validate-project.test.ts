import { describe, expect, it } from 'vitest'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { newUuid } from '../../../src/base/ids.ts'
import type { ValidationReport } from '../../../src/schema/types.gen.ts'
import { type CommandEnd, runCommand } from '../../support/run-command.ts'
import { useWeir } from '../../support/servers/use-weir.ts'
import { useFolder } from '../../support/folder.ts'

const weir = useWeir()
const MESSAGES = { messages: [{ role: 'user', content: 'Hi' }] }
const ANSWER = { choices: [{ message: { role: 'assistant', content: 'Hello' } }] }
const metadata = { ls_provider: 'openai', ls_model_name: 'gpt-4.1-mini' }
const usage_metadata = { input_tokens: 8, output_tokens: 2, total_tokens: 10 }

let dir: string
useFolder((folder) => void (dir = folder))

function callIn(session_name: string, outputs: object): object {
  const start_time = new Date().toISOString()
  const call = { run_type: 'llm', inputs: MESSAGES, outputs, extra: { metadata } }
  return { id: newUuid(), name: 'call', start_time, end_time: start_time, session_name, ...call }
}

async function send(...runs: object[]): Promise<void> {
  const body = JSON.stringify({ post: runs, patch: [] })
  const headers = { 'content-type': 'application/json' }
  const answer = await weir.current().request('/api/v1/runs/batch', { method: 'POST', headers, body })
  expect(answer.status).toBe(202)
}

function validate(...args: string[]): Promise<CommandEnd> {
  const { url, key } = weir.current()
  const env = { ...process.env, WEIR_URL: url, WEIR_API_KEY: key }
  return runCommand(['validate', ...args], { env })
}

/** The answer of a list, as a client saves it; returns its path. */
async function answerOf(path: string, body: object): Promise<string> {
  const headers = { 'content-type': 'application/json' }
  const request = { method: 'POST', headers, body: JSON.stringify(body) }
  const file = join(dir, newUuid())
  await writeFile(file, await (await weir.current().request(path, request)).text())
  return file
}

describe('INGEST-11: weir validate --project', () => {
  it('passes what a test run has just sent, steps without checks too', async () => {
    const step = { ...callIn('good', ANSWER), run_type: 'chain', name: 'step', extra: {} }
    await send(callIn('good', { ...ANSWER, usage_metadata }), step)
    const { code, stdout } = await validate('--project', 'good', '--since', '10m', '--format', 'json')
    const report = JSON.parse(stdout) as ValidationReport
    expect(code).toBe(0)
    expect(report.summary).toMatchObject({ runs: 2, llm_runs: 1, valid: 2 })
    const checks = new Map(report.runs.map((run) => [run.name, run.checks]))
    expect(checks.get('step')).toEqual({ run_type: null, format: null, model: null, usage: null })
    expect(checks.get('call')).toMatchObject({ usage: { ok: true } })
  })

  it('fails a call without usage, with the reason of the server, over several pages', async () => {
    const good = Array.from({ length: 120 }, () => callIn('bad', { ...ANSWER, usage_metadata }))
    await send(...good, callIn('bad', ANSWER))
    const { code, stdout } = await validate('--project', 'bad', '--since', '10m', '--format', 'github')
    expect(code).toBe(1)
    expect(stdout).toMatch(/^::error title=usage%3A call::no usage_metadata; estimated with o200k_base/)
    expect(stdout).toContain('121 runs (121 llm), 120 valid, 1 invalid')
  })

  it('exits 2 for an unknown project, and where nothing was sent since', async () => {
    const unknown = await validate('--project', 'nowhere')
    expect([unknown.code, unknown.stderr]).toEqual([
      2,
      expect.stringContaining('There is no project "nowhere".'),
    ])
    const past = { ...callIn('old', ANSWER), start_time: new Date(Date.now() - 7_200_000).toISOString() }
    await send(past)
    const late = await validate('--project', 'old', '--since', '10m')
    expect([late.code, late.stdout]).toEqual([2, ''])
    expect(late.stderr).toContain('Project "old" has no runs that started')
  })

  it('takes the answers of POST /runs/query of both APIs as files', async () => {
    await send(callIn('saved', { ...ANSWER, usage_metadata }), callIn('saved', ANSWER))
    await validate('--project', 'saved')
    const [project] = await weir.current().json<{ id: string }[]>('/api/v1/sessions?name=saved')
    const session = [project!.id]
    const select = ['inputs', 'outputs', 'extra', 'start_time', 'end_time']
    const selects = ['ID', 'NAME', 'RUN_TYPE', 'INPUTS', 'OUTPUTS', 'EXTRA', 'START_TIME', 'END_TIME']
    const since = new Date(Date.now() - 600_000).toISOString()
    const answers = [
      await answerOf('/api/v1/runs/query', { session }),
      await answerOf('/api/v1/runs/query', { session, select }),
      await answerOf('/api/v2/runs/query', { project_ids: session, selects, min_start_time: since }),
    ]
    for (const answer of answers) {
      const { code, stdout } = await validate('--format', 'json', answer)
      expect(code).toBe(1)
      expect((JSON.parse(stdout) as ValidationReport).summary).toMatchObject({
        runs: 2,
        valid: 1,
        failed_checks: { run_type: 0, format: 0, model: 0, usage: 1 },
      })
    }
    const bare = await answerOf('/api/v1/runs/query', { session, select: ['name'] })
    expect(await validate(bare)).toMatchObject({ code: 2, stderr: expect.stringContaining('"select"') })
  })
})
