import { expect, it } from 'vitest'
import { isRedisAddress, parseSentinels } from './redis-address.ts'

it('reads the address of Sentinels with all its parts', () => {
  const url =
    'rediss+sentinel://me:p%40ss:word@s-1:26380,10.0.0.2,[::1]:26381/main/3?sentinel_username=u&sentinel_password=a%26b'
  expect(parseSentinels(url)).toEqual({
    sentinels: [
      { host: 's-1', port: 26_380 },
      { host: '10.0.0.2', port: 26_379 },
      { host: '::1', port: 26_381 },
    ],
    name: 'main',
    database: 3,
    username: 'me',
    password: 'p@ss:word',
    sentinelUsername: 'u',
    sentinelPassword: 'a&b',
    isEncrypted: true,
  })
  expect(parseSentinels('redis+sentinel://:secret@host/main')).toMatchObject({
    sentinels: [{ host: 'host', port: 26_379 }],
    database: 0,
    username: undefined,
    password: 'secret',
    isEncrypted: false,
  })
})

it.each([
  'redis://host',
  'redis://user:password@host:6380/2?family=6',
  'rediss://host',
  'redis+sentinel://a:1,b:2/main',
])('%s is an address', (text) => expect(isRedisAddress(text)).toBe(true))

it.each([
  'http://host',
  'redis://host:port',
  'redis://a:1,b:2/main',
  'redis+sentinel://a:1,b:2',
  'redis+sentinel://a:1,b:2/',
  'redis+sentinel://a:1,,b:2/main',
  'redis+sentinel://a:0/main',
  'redis+sentinel://a:99999/main',
  'redis+sentinel://a/main/zero',
  'redis+sentinel://%zz@a/main',
  'redis+sentinel://a/%zz',
  'redis+sentinel:///main',
])('%s is not', (text) => expect(isRedisAddress(text)).toBe(false))
