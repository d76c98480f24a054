import { describeConfig, readConfig } from '../config.ts'
import { misused, readArguments, saidText } from './command-arguments.ts'

const HELP = `Usage: weir config

Prints the settings in effect, with where each is from: the environment or its default. Secrets are masked.

Options:
  -h, --help       print this`

/** `weir config`: the effective configuration, secrets masked, with the source of each value. */
export async function config(args: string[]): Promise<number> {
  const { values, positionals } = readArguments(args, { help: { type: 'boolean', short: 'h' } }, HELP)
  if (values.help === true) {
    console.log(HELP)
    return 0
  }
  if (positionals.length > 0) throw misused(`weir config takes no words${saidText(positionals)}.`, HELP)
  const settings = readConfig()
  console.log(describeConfig(settings))
  for (const { name, meant } of settings.misspelt)
    console.error(`weir config: ${name} is not a setting and is not read; ${meant} is one.`)
  return 0
}
