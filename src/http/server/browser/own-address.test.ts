import { expect, it } from 'vitest'
import { hasOwnHost } from './own-address.ts'

it.each<[string | undefined, string | undefined, boolean]>([
  ['http://apps.example.com', undefined, true],
  ['http://apps.example.com', 'http://weir.example.com', true],
  ['http://weir.example.com:2024', 'https://weir.example.com', false],
  ['http://localhost:2024', undefined, false],
  ['http://localhost:2024', 'https://weir.example.com', false],
  ['http://10.0.0.1:2024', 'https://weir.example.com', false],
  [undefined, undefined, false],
])(
  'D-64: deployments at %s with an interface at %s have a host of their own: %s',
  (deploymentsOrigin, publicUrl, own) =>
    expect(hasOwnHost({ deploymentsOrigin, publicUrl, host: '10.0.0.1' })).toBe(own),
)
