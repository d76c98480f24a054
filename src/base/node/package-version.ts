import { existsSync, readFileSync } from 'node:fs'

/** Version in package.json, which is three folders above this file in the sources and four in the build. */
export function packageVersion(): string {
  for (const place of ['../../../package.json', '../../../../package.json']) {
    const url = new URL(place, import.meta.url)
    if (existsSync(url)) return (JSON.parse(readFileSync(url, 'utf8')) as { version: string }).version
  }
  return '0.0.0'
}
