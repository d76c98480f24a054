import { expect, it } from 'vitest'
import { readA2aRequest, readEnvelope } from './request.ts'

function read(text: string) {
  return readA2aRequest(readEnvelope(Buffer.from(text)), {})
}

it('A2A-11: an id beyond 2^53 is that of the answer, digit by digit', () => {
  const { id } = read('{"jsonrpc":"2.0","id":9007199254740993,"method":"GetTask","params":{}}')
  expect(JSON.stringify({ id })).toBe('{"id":9007199254740993}')
})

it('A2A-2: params may be null', () => {
  expect(read('{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":null}').params).toEqual({})
})
