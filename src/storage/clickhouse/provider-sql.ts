import { GOOGLE_PROVIDER, PROVIDER_SPELLINGS, PROVIDER_SUFFIX } from '../../trace/price/provider-name.ts'

const list = (names: readonly string[]): string => `[${names.map((name) => `'${name}'`).join(', ')}]`
const OTHERS = list(PROVIDER_SPELLINGS.map(([other]) => other))
const SHOWN = list(PROVIDER_SPELLINGS.map(([, shown]) => shown))

/** Matches the whole text if it names one of Google's model services, so that the whole text is replaced. */
const GOOGLE = `(?s)${GOOGLE_PROVIDER.source}.*`

/** SQL of the result of `normalizeProvider` for the value of a column. */
function normalized(column: string): string {
  const bare = `replaceRegexpOne(lower(trimBoth(toString(${column}))), '${PROVIDER_SUFFIX.source}', '')`
  return `transform(replaceRegexpOne(${bare}, '${GOOGLE}', 'google'), ${OTHERS}, ${SHOWN})`
}

/** SQL of the normalised provider of a row. Rows of earlier releases may have other spellings. */
export const PROVIDER = normalized('provider')
