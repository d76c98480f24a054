import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, it } from 'vitest'
import { PYTHON, withoutPython } from '../../../support/python.ts'

const HOST = fileURLToPath(new URL('../../../../hosts/python', import.meta.url))
const FOLDER = fileURLToPath(new URL('../../../fixtures/python-host', import.meta.url))
const WITHOUT = withoutPython()

/** Starting Python and its packages takes most of the time. */
const TIMEOUT_MS = 120_000

/** The tests are in Python, with the titles of their methods; a failure shows their output. */
describe.skipIf(WITHOUT !== '')(`the files of the Python host${WITHOUT}`, () => {
  it.each([
    ['values.py', 'HOST-8: values of every kind have a JSON form, and the store refuses what it cannot keep'],
    [
      'batches.py',
      'HOST-8, HOST-9, HOST-17: frames are bounded, and a value that cannot be printed fails no run',
    ],
    [
      'processes.py',
      'HOST-15, HOST-16: code of graphs may fork, end programs, block threads and close its outputs',
    ],
    ['answers.py', 'P-30: what HTTP apps and auth files cannot do is answered'],
  ])(
    '%s: %s',
    async (file) => {
      await promisify(execFile)(PYTHON, [`${FOLDER}/${file}`, HOST])
    },
    TIMEOUT_MS,
  )
})
