import { describe, expect, it } from 'vitest'
import { generateConfigurationPage, generateEnvExample, generateErrorsPage } from './docs.ts'

describe('generated pages', () => {
  it('contain default, values and meaning of a variable', () => {
    expect(generateConfigurationPage()).toMatch(
      /^\| `INGEST_LOG_MAX_BYTES` \| `4GiB` \| a size, at least 1MiB \| .+ \|$/m,
    )
    expect(generateEnvExample()).toContain('\n# PORT=1984\n')
  })

  it('contain status and retry of an error', () => {
    expect(generateErrorsPage()).toMatch(/^\| `log_full` \| 503 \| yes \| /m)
  })
})
