import type { Registry } from '../schema/registry.ts'
import { parseSetup } from './parse-setup.ts'
import { createReadSecret } from './read-secret.ts'
import { readSecrets } from './sections/service-keys.ts'

/**
 * The keys to which a set-up refers, by their names, read on this machine. @throws AppError invalid_request for a
 * document with mistakes, and for a missing or unsuitable key
 */
export async function keysOfDocument(
  document: string,
  {
    registry,
    environment,
  }: { registry: Registry; environment: Readonly<Record<string, string | undefined>> },
): Promise<Record<string, string>> {
  const { service_keys } = parseSetup(document, registry)
  return Object.fromEntries(await readSecrets(service_keys?.items ?? [], createReadSecret(environment)))
}
