import { expect, it } from 'vitest'
import { isLoopback } from './loopback.ts'

it.each(['localhost', '127.0.0.1', '127.8.8.8', '::1', '[::1]'])('%s is loopback', (host) => {
  expect(isLoopback(host)).toBe(true)
})

it.each(['0.0.0.0', '::', '10.0.0.1', '127.evil.example', 'localhost.example'])('%s is not', (host) => {
  expect(isLoopback(host)).toBe(false)
})
