import { vi } from 'vitest'
import { describeHook } from '../../../conformance/langgraph/js/protocol-v2/hook-tests.ts'
import { LONG_MS } from '../../../support/campaign.ts'

// Many runs, and values of many megabytes.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

describeHook('@langchain/svelte', 'svelte-page.mjs', ['sse'])
