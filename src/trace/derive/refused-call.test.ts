import { expect, it } from 'vitest'
import { isRefusal } from './refused-call.ts'

it.each([
  "openai.RateLimitError: Error code: 429 - {'error': {'message': 'slow down'}}",
  'Error code: 400 - this model is broken',
  'AI_APICallError: Rate limit reached for gpt-error',
  'AuthenticationError: 401 Incorrect API key provided',
  "Client error '404 Not Found' for url 'https://api.example.com'",
  'botocore.errorfactory.ThrottlingException: Too many requests',
  '503 Service Unavailable',
  'Request failed with status code 500',
  'Error: 400 this model is broken',
  '429',
])('a refusal: %s', (error) => {
  expect(isRefusal(undefined, error)).toBe(true)
})

it.each([
  'ValueError: python boom',
  'Error: took 500 ms',
  'Error: 4000 items',
  'It said: Error: 400 items',
  'TypeError: x is not a function\n    at file.js:404:12',
  'Request timed out',
  'pydantic_core.ValidationError: 1 validation error for Answer',
  '',
])('no refusal: %s', (error) => {
  expect(isRefusal(error)).toBe(false)
})
