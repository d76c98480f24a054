import { fitJson, TOKENS_ARGUMENT } from './budget.ts'
import { readTool } from './tool.ts'
import type { JsonValue } from '../../../schema/json.ts'

export const validateRunsTool = readTool(
  'validate_runs',
  'Check runs before they are sent: the report of what ingest would store, with fixes. Nothing is stored.',
  {
    payload: {
      type: 'json',
      required: true,
      description: 'A run, a list of runs, a batch or an OTLP export, as JSON or its text.',
    },
    max_tokens: TOKENS_ARGUMENT,
  },
  async (args, { ask, count }) => {
    const payload = args.json('payload')
    const text = typeof payload === 'string' ? payload : JSON.stringify(payload)
    const report = await ask('POST /runs/validate', { body: Buffer.from(text) })
    return fitJson(report as JsonValue, '', args.integer('max_tokens') - 20, count)
  },
)
