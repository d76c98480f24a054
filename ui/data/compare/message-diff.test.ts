import { describe, expect, it } from 'vitest'
import { messageTexts, pairMessages } from './message-diff.ts'

const at = (role: string, text: string) => ({ role, text })

describe('compared messages', () => {
  it('pair equal ones, then changed ones of one role between them', () => {
    const a = [at('system', 'Be brief.'), at('user', 'Hi'), at('assistant', 'Hello')]
    const b = [at('system', 'Be long.'), at('user', 'Hi'), at('tool', '1'), at('assistant', 'Hello!')]
    expect(pairMessages(a, b)).toEqual([
      { a: a[0], b: b[0], isEqual: false },
      { a: a[1], b: b[1], isEqual: true },
      { a: undefined, b: b[2], isEqual: false },
      { a: a[2], b: b[3], isEqual: false },
    ])
  })

  it('are texts with the calls of tools, and without the bytes of media', () => {
    const content = [
      { type: 'text', text: 'Look' },
      { type: 'tool_call', name: 'weather', args: { city: 'Paris' } },
      { type: 'image', base64: 'AAAA' },
    ]
    expect(messageTexts([{ role: 'user', content }], JSON.stringify)).toEqual([
      at('user', 'Look\nweather {"city":"Paris"}\n[image, 4 characters]'),
    ])
  })
})
