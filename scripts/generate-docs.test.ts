import { describe, expect, it } from 'vitest'
import {
  generateConfigurationPage,
  generateEnvExample,
  generateErrorsPage,
  sizeText,
} from './generate-docs.ts'

describe('sizeText', () => {
  it.each([
    [4 * 1024 ** 3, '4GiB'],
    [200 * 1024 ** 2, '200MiB'],
    [1536, '1536'],
    [0, '0'],
  ])('%i is %s', (bytes, text) => {
    expect(sizeText(bytes)).toBe(text)
  })
})

describe('generated pages', () => {
  it('tell defaults, values and meaning of a variable', () => {
    expect(generateConfigurationPage()).toMatch(
      /^\| `INGEST_LOG_MAX_BYTES` \| `4GiB` \| a size, at least 1MiB \| .+ \|$/m,
    )
    expect(generateEnvExample()).toContain('\n# PORT=1984\n')
  })

  it('tell status and retry of an error', () => {
    expect(generateErrorsPage()).toMatch(/^\| `log_full` \| 503 \| yes \| /m)
  })
})
