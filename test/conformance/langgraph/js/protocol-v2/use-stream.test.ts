import { describeHook } from './hook-tests.ts'

describeHook('@langchain/react', 'protocol-page.mjs', ['sse', 'websocket'])
