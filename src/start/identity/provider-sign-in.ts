import { systemClock } from '../../base/clock.ts'
import type { Logger } from '../../base/log.ts'
import type { Sealer } from '../../base/node/sealer.ts'
import type { Config } from '../../config.ts'
import { createProvider } from '../../identity/oidc/provider.ts'
import { createProviderSignIn, type ProviderSignIn } from '../../identity/oidc/sign-in.ts'
import { openSealer } from '../../hosting/secrets-key.ts'
import type { SqlStores } from '../sql-stores.ts'

/**
 * The sign-in at the providers of the settings; undefined if they name none. A provider that cannot be reached does not
 * stop the start: it is asked again when somebody signs in.
 */
export function startProviderSignIn(
  { config, logger }: { config: Config; logger: Logger },
  { signIns: store, identity }: Pick<SqlStores, 'signIns' | 'identity'>,
): ProviderSignIn | undefined {
  const { signIn: settings, publicUrl } = config
  if (settings.providers.length === 0 || publicUrl === undefined) return undefined
  const clock = systemClock
  const providers = settings.providers.map((one) => createProvider(one, { clock, logger }))
  for (const provider of providers) void provider.isAvailable()
  let opened: Promise<Sealer> | undefined
  return createProviderSignIn({
    settings,
    providers,
    store,
    sealer: () => (opened ??= openSealer(config)),
    organization_id: identity.organization.id,
    publicUrl,
    clock,
    logger,
  })
}
