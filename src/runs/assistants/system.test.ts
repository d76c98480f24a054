import { expect, it } from 'vitest'
import { systemAssistantId } from './system.ts'

it('RUN-26: gives a graph the id that other LangGraph servers give it', () => {
  expect(systemAssistantId('agent')).toBe('fe096781-5601-53d2-b2f6-0d3403f7e9ca')
})
