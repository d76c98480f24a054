import { createSealer } from '../../../src/base/node/sealer.ts'
import { createLogger } from '../../../src/base/log.ts'
import type { Clock } from '../../../src/base/clock.ts'
import { createProvider } from '../../../src/identity/oidc/provider.ts'
import {
  readProvider,
  type SignInSettings,
  type WrittenProvider,
} from '../../../src/identity/oidc/provider-settings.ts'
import { createProviderSignIn } from '../../../src/identity/oidc/sign-in.ts'
import { fixedPort } from '../../support/fixed-port.ts'
import { testClock } from '../../support/faults/test-clock.ts'
import { type AppFixture, startApp } from '../../support/servers/app-fixture.ts'
import { createHttpBrowser, type HttpBrowser } from '../../support/sign-in/http-browser.ts'

export interface SignInWorld {
  fixture: AppFixture
  clock: Clock & { time: number }
  /** The address of the server, as PUBLIC_URL. */
  url: string
  callback(id?: string): string
  browser(): HttpBrowser
  /** Goes through the sign-in; returns where the browser ends. */
  signIn(browser: HttpBrowser, options?: { id?: string; return_to?: string }): Promise<URL>
  /** `GET /auth/session` in this browser. */
  session(browser: HttpBrowser): Promise<{ status: number; body: Record<string, unknown> }>
  audit(
    action: string,
  ): Promise<{ action: string; actor: Record<string, unknown>; details: Record<string, unknown> }[]>
}

const ID = 'custom-oidc'

/** A server whose people sign in at the providers that `written` describes, once its address is known. */
export async function startSignInWorld(
  written: (callback: (id?: string) => string) => Promise<(Omit<WrittenProvider, 'id'> & { id?: string })[]>,
  { publicUrl, ...settings }: Partial<Omit<SignInSettings, 'providers'>> & { publicUrl?: string } = {},
): Promise<SignInWorld> {
  const port = await fixedPort()
  const url = `http://127.0.0.1:${port}`
  const callback = (id = ID): string => `${url}/api/v1/oauth/${id}/callback`
  const wanted = (await written(callback)).map((one) => {
    const { provider, mistakes } = readProvider({ id: ID, ...one }, String)
    if (mistakes.length > 0) throw new Error(mistakes.join('\n'))
    return provider
  })
  const clock = { time: Date.now(), ...testClock(() => clock.time) } as Clock & { time: number }
  const logger = createLogger({ level: 'silent' })
  const fixture = await startApp({
    port,
    publicUrl: publicUrl ?? url,
    clock,
    checkCallersMs: 50,
    localSecret: 'the secret of this machine',
    people: (store, organization_id) =>
      createProviderSignIn({
        settings: {
          providers: wanted,
          auto_login: false,
          key_sign_in: true,
          admin_email: undefined,
          ...settings,
        },
        providers: wanted.map((one) => createProvider(one, { clock, logger })),
        store,
        sealer: async () => createSealer('the key of this test'),
        organization_id,
        publicUrl: publicUrl ?? url,
        clock,
        logger,
      }),
  })
  return {
    fixture,
    clock,
    url,
    callback,
    browser: createHttpBrowser,
    async signIn(browser, { id = ID, return_to } = {}) {
      const search = return_to === undefined ? '' : `?return_to=${encodeURIComponent(return_to)}`
      const end = await browser.follow(
        `${url}/api/v1/oauth/${id}/login${search}`,
        (at) => at.origin === url && at.pathname.startsWith('/app/'),
      )
      return end.url
    },
    async session(browser) {
      const answer = await browser.fetch(`${url}/api/v1/auth/session`)
      return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
    },
    async audit(action) {
      const answer = await fixture.request(`/orgs/current/audit-logs?action=${action}`)
      const { audit_logs } = (await answer.json()) as {
        audit_logs: Awaited<ReturnType<SignInWorld['audit']>>
      }
      return audit_logs
    },
  }
}
