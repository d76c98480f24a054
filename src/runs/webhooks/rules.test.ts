import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../schema/json.ts'
import { readWebhookRules, webhookTarget } from './rules.ts'

function rules(webhooks: JsonObject, http: JsonObject = {}, env: Record<string, string> = {}) {
  return readWebhookRules({ webhooks, http }, [env, { LG_WEBHOOK_B: 'server', SECRET: 'no' }])
}

describe('HOOK-7: the rules of langgraph.json', () => {
  it.each([
    [{}, 'ftp://example.com/', /http or https/],
    [{}, '/relative', /no http.app/],
    [{}, 'relative', /absolute/],
    [{}, 'https://user:pw@example.com/', /user or password/],
    [{}, `https://example.com/${'x'.repeat(2048)}`, /2048/],
    [{ url: { require_https: true } }, 'http://example.com/', /https/],
    [{ url: { max_url_length: 20 } }, 'https://example.com/abc', /20/],
    [{ url: { allowed_domains: ['*.example.com'] } }, 'https://example.com/', /does not call example.com/],
    [{ url: { allowed_domains: ['*.example.com'] } }, 'https://evilexample.com/', /does not call/],
    [{ url: { allowed_domains: ['example.com'] } }, 'https://example.com.evil.org/', /does not call/],
    [{ url: { allowed_domains: [] } }, 'https://example.com/', /does not call/],
    [{ url: { allowed_ports: [443] } }, 'https://example.com:8443/', /port 8443/],
  ] as [JsonObject, string, RegExp][])('%j refuse %s', (webhooks, url, message) => {
    expect(() => webhookTarget(url, rules(webhooks))).toThrow(message)
  })

  it.each([
    [{ url: { allowed_domains: ['*.Example.com'] } }, 'https://a.b.example.com/'],
    [{ url: { allowed_domains: ['example.com'], allowed_ports: [443] } }, 'https://EXAMPLE.com/x'],
    [{ url: { require_https: true } }, 'https://example.com/'],
  ] as [JsonObject, string][])('%j allow %s', (webhooks, url) => {
    expect(webhookTarget(url, rules(webhooks))).toBe(new URL(url).href)
  })

  it.each([
    ['/hook', '/hook'],
    ['/a/../hook?x=1#y', '/hook?x=1'],
  ])('an HTTP app accepts the path %s', (path, target) => {
    const withApp = rules({ url: { require_https: true, allowed_domains: [] } }, { app: './app.ts:app' })
    expect(webhookTarget(path, withApp)).toBe(target)
    const message = /no http.app/
    expect(() =>
      webhookTarget(path, rules({ url: { disable_loopback: true } }, { app: './app.ts:app' })),
    ).toThrow(message)
    expect(() => webhookTarget(path, rules({}, { app: './app.ts:app', disable_webhooks: true }))).toThrow(
      /no webhooks/,
    )
  })

  it.each([
    '//example.com/',
    '/\\example.com/',
    '/\t/example.com/',
    '/.//example.com/',
    'hook',
    './hook',
    '',
  ])('an HTTP app refuses %j, which is not a path or names a host', (webhook) => {
    expect(() => webhookTarget(webhook, rules({}, { app: './app.ts:app' }))).toThrow(/absolute/)
  })

  it('disable_webhooks refuses all', () => {
    expect(() => webhookTarget('https://example.com/', rules({}, { disable_webhooks: true }))).toThrow(
      /no webhooks/,
    )
  })

  it('HOOK-8: headers are filled from variables with the prefix, the deployment’s own first', () => {
    const headers = {
      Authorization: 'Bearer ${{ env.LG_WEBHOOK_A }}',
      'x-b': '${{env.LG_WEBHOOK_B}}!',
      'x-c': 'c',
    }
    expect(rules({ headers }, {}, { LG_WEBHOOK_A: 'own' }).headers).toEqual({
      authorization: 'Bearer own',
      'x-b': 'server!',
      'x-c': 'c',
    })
    const own = { env_prefix: 'MY_', headers: { 'x-m': '${{ env.MY_KEY }}' } }
    expect(rules(own, {}, { MY_KEY: 'k' }).headers).toEqual({ 'x-m': 'k' })
  })

  it.each([
    [{ headers: { 'x-a': '${{ env.SECRET }}' } }, /begin with LG_WEBHOOK_/],
    [{ headers: { 'x-a': '${{ env.LG_WEBHOOK_MISSING }}' } }, /is not set/],
    [{ headers: { 'Webhook-Signature': 'mine' } }, /cannot be set/],
    [{ headers: { 'bad name': 'x' } }, /cannot be set/],
    [{ headers: { 'x-a': 'a\r\nx-b: c' } }, /no header may have/],
  ] as [JsonObject, RegExp][])('%j cannot be used', (webhooks, message) => {
    expect(() => rules(webhooks)).toThrow(message)
  })
})
