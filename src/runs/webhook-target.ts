import { AppError } from '../base/errors.ts'

const MAX_URL = 2048

/**
 * The URL of a webhook as it will be called.
 * @throws AppError invalid_request for anything but an http or https URL without a user
 */
export function webhookTarget(webhook: string): string {
  const url = URL.parse(webhook)
  const refuse = (why: string): AppError => new AppError('invalid_request', { message: `webhook: ${why}` })
  if (url === null) throw refuse('must be an absolute URL.')
  if (webhook.length > MAX_URL) throw refuse(`must not be longer than ${MAX_URL} characters.`)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw refuse('must be an http or https URL.')
  if (url.username !== '' || url.password !== '') throw refuse('must not carry a user or password.')
  return url.href
}
