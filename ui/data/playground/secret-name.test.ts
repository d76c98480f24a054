import { describe, expect, it } from 'vitest'
import { secretNameFault } from './secret-name.ts'

describe('the name of a secret', () => {
  it.each(['', 'OPENAI_API_KEY', 'MY_VERY_LONG_NAME_OF_A_SECRET_FOR_TESTS_2', 'local_key', 'Key2', 'ollama'])(
    '“%s” is taken',
    (name) => {
      expect(secretNameFault(name)).toBeUndefined()
    },
  )

  it.each([
    'sk-proj-abc',
    'sk-ant-api03-Zm9v',
    ' gsk_a1B2c3D4e5F6',
    'AIzaSyA1234567890',
    'hf_abcdefghij',
    'AKIAIOSFODNN7EXAMPLE',
    'c2VjcmV0LXZhbHVlLTEyMw==',
    '0123456789abcdef0123456789abcdef',
    'Bearer abc',
  ])('“%s” is a key', (key) => {
    expect(secretNameFault(key)).toMatch(/looks like a key/)
  })
})
