import { describe, expect, it } from 'vitest'
import { countSenders, senderOf } from './senders.ts'

const PYTHON = { runtime: { sdk: 'langsmith-py', sdk_version: '0.11.1', library: 'langsmith' } }
const JS = { runtime: { sdk: 'langsmith-js', sdk_version: '0.10.5' } }

describe('ui §9.4: the client that sent a run', () => {
  it.each([
    [PYTHON, 'langsmith-py 0.11.1'],
    [{ runtime: { library: 'langchain-js' } }, 'langchain-js'],
    [{ otel_span: { scope: { name: 'openinference', version: '1.2' } } }, 'openinference 1.2'],
    [
      {
        otel_span: { scope: {} },
        metadata: {
          'telemetry.sdk.name': 'opentelemetry',
          'telemetry.sdk.language': 'python',
          'telemetry.sdk.version': '1.30',
        },
      },
      'opentelemetry python 1.30',
    ],
    [{ runtime: 'node', metadata: null }, 'unknown'],
    [null, 'unknown'],
  ])('is named by its extra %#', (extra, name) => {
    expect(senderOf(extra)).toBe(name)
  })

  it('is counted for each check that its calls fail', () => {
    const failing = [
      ['usage', [PYTHON, JS, JS]],
      ['format', [JS]],
    ] as const
    expect(countSenders(failing)).toEqual([
      { name: 'langsmith-js 0.10.5', failed: { run_type: 0, format: 1, model: 0, usage: 2 } },
      { name: 'langsmith-py 0.11.1', failed: { run_type: 0, format: 0, model: 0, usage: 1 } },
    ])
  })
})
