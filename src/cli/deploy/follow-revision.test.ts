import { expect, it } from 'vitest'
import { missingPackageHint } from './follow-revision.ts'

it.each([
  ["ModuleNotFoundError: No module named 'tavily'", 'Add it to "dependencies" of langgraph.json.'],
  ["Cannot find package 'zod' imported from src/agent.ts", 'Add it to "dependencies" of package.json.'],
  ["Cannot find module '@langchain/core/messages'.", 'Add it to "dependencies" of package.json.'],
  ["Cannot find module '@/lib/tools'", undefined],
  ["Cannot find module 'node:nothing'", undefined],
  ["Cannot find module './tools.ts' imported from src/agent.ts", undefined],
  ['The revision was not ready within DEPLOY_START_SECONDS.', undefined],
])('P-42: after the error "%s" the command says %s', (message, hint) => {
  expect(missingPackageHint(message)).toBe(hint)
})
