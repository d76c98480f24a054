import { describeHook } from '../../../conformance/langgraph/js/protocol-v2/hook-tests.ts'

describeHook('@langchain/svelte', 'svelte-page.mjs', ['sse'])
