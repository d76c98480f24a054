import { describeConfig, readConfig } from '../config.ts'

/** `weir config`: the effective configuration, secrets masked, with the source of each value. */
export async function config(): Promise<number> {
  const settings = readConfig()
  console.log(describeConfig(settings))
  for (const { name, meant } of settings.misspelt)
    console.error(`weir config: ${name} is not a setting and is not read; ${meant} is one.`)
  return 0
}
