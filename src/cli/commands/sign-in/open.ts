import type { SchemaTypes } from '../../../schema/types.gen.ts'
import { connectTarget } from '../../server/api-client.ts'
import { findTarget } from '../../server/find-target.ts'
import { misused, readArguments } from '../../arguments/command-arguments.ts'
import { openBrowser } from '../../terminal/open-browser.ts'

const HELP = `Usage: weir open [options]

Prints a link to the web interface that signs your browser in: once, within 15 minutes, with your API key. On a terminal
the browser is opened too.

Options:
  --no-browser     only print the link
  --url URL        the server (default: WEIR_URL, else this machine at PORT, else the one that runs on DATA_DIR)
  --key KEY        an API key (default: WEIR_API_KEY, else on this machine the one in DATA_DIR/api-key)
  -h, --help       print this`

const FLAGS = {
  'no-browser': { type: 'boolean' },
  url: { type: 'string' },
  key: { type: 'string' },
} as const

/** `weir open`: prints a sign-in link, and opens it in a browser when standard output is a terminal. */
export async function open(args: string[]): Promise<number> {
  const { values, positionals } = readArguments(args, FLAGS, HELP)
  if (positionals.length > 0)
    throw misused(`weir open takes options only, not ${positionals.join(' ')}.`, HELP)
  const { url, key } = values
  const target = await findTarget('platform', { url, key })
  const { localSecret } = target
  const made = await connectTarget(target, undefined).json<SchemaTypes['auth-ticket']>('/auth/tickets', {
    method: 'POST',
    ...(localSecret !== undefined && { headers: { 'x-weir-local': localSecret } }),
  })
  console.log(made.url)
  if (process.stdout.isTTY && values['no-browser'] !== true) openBrowser(made.url)
  return 0
}
