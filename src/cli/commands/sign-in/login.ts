import type { SchemaTypes } from '../../../schema/types.gen.ts'
import { API_FLAGS } from '../../arguments/api-flags.ts'
import { misused, readArguments } from '../../arguments/command-arguments.ts'
import { connectTarget } from '../../server/api-client.ts'
import { readClientSettings } from '../../server/client-settings.ts'
import { findTarget } from '../../server/find-target.ts'
import { keepLogin } from '../../server/logins.ts'
import { signInTo } from '../../server/sign-in.ts'
import { openBrowser } from '../../terminal/open-browser.ts'
import { printable } from '../../terminal/printable.ts'

const HELP = `Usage: weir login [options]

Signs in with your browser, at your provider if the server has one, and keeps a personal access token for 90 days.
Commands for that server then need no other key. The token is in ~/.config/weir/logins.json, which only you can read,
and in the list of your keys, where you can delete it.

Options:
  --no-browser     only print the link
  --url URL        the server (default: WEIR_URL, else this machine at PORT, else the one that runs on DATA_DIR)
  -h, --help       print this`

const FLAGS = {
  'no-browser': { type: 'boolean' },
  url: API_FLAGS.url,
} as const

/** `weir login`: gets a personal access token over the sign-in of browsers (TEAM-8). */
export async function login(args: string[]): Promise<number> {
  const { values, positionals } = readArguments(args, FLAGS, HELP)
  if (positionals.length > 0)
    throw misused(`weir login takes options only, not ${positionals.join(' ')}.`, HELP)
  const settings = readClientSettings()
  const target = await findTarget('platform', { url: values.url }, settings)
  const { key, expires_in } = await signInTo(target.url, (address) => {
    console.log(`Open this page and allow the sign-in:\n${address}`)
    if (process.stdout.isTTY && values['no-browser'] !== true) openBrowser(address)
  })
  const expires_at = expires_in === undefined ? null : new Date(Date.now() + expires_in * 1000).toISOString()
  await keepLogin(settings.loginsFile, target.url, { key, expires_at })
  const api = connectTarget({ ...target, key, keySource: settings.loginsFile }, undefined)
  const { user } = await api.json<SchemaTypes['auth-session']>('/auth/session')
  const until = expires_at === null ? '' : ` until ${expires_at.slice(0, 10)}`
  console.log(`Signed in to ${target.url} as ${printable(user?.email ?? 'a member')}${until}.`)
  return 0
}
