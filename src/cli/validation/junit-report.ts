import { printable } from '../terminal/printable.ts'
import { FIXES, failedChecks, type ReportWriter } from './report-writer.ts'
import { createTemporaryFile } from './temporary-file.ts'

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

interface Failure {
  type: string
  message: string
  detail: string
}

/**
 * The report as JUnit XML: a test case for each run and for each refused item. Its head has the number of cases, so
 * they wait in a temporary file.
 */
export function createJunitReport(print: (text: string) => void): ReportWriter {
  const cases = createTemporaryFile()
  let tests = 0
  let failed = 0
  const add = (group: string, name: string, failures: readonly Failure[]): void => {
    tests++
    if (failures.length > 0) failed++
    cases.append(Buffer.from(caseText(group, name, failures)))
  }
  return {
    run(run) {
      const failures = failedChecks(run).map(({ name, reason }) => ({
        type: name,
        message: `${name}: ${reason}`,
        detail: FIXES[name],
      }))
      add(run.run_type, `${run.name} ${run.run_id}`, failures)
    },
    rejected({ run_id, code, field, reason }) {
      const place = field === null ? code : `${code} at ${field}`
      add('rejected', run_id ?? place, [{ type: code, message: place, detail: reason }])
    },
    end() {
      print('<?xml version="1.0" encoding="UTF-8"?>')
      print(`<testsuites tests="${tests}" failures="${failed}">`)
      print(`<testsuite name="weir validate" tests="${tests}" failures="${failed}" errors="0" skipped="0">`)
      for (const text of cases.texts()) print(text)
      print('</testsuite>\n</testsuites>')
      cases.close()
    },
  }
}

/** A test case in one line. A case with several faults has one failure, because some readers expect one. */
function caseText(group: string, name: string, failures: readonly Failure[]): string {
  const head = `<testcase classname="${xmlText(group)}" name="${xmlText(name)}"`
  const [first] = failures
  if (first === undefined) return `${head}/>\n`
  const message = xmlText(failures.map((failure) => failure.message).join('; '))
  const detail = xmlText(failures.map((failure) => failure.detail).join(' '))
  return `${head}><failure type="${xmlText(first.type)}" message="${message}">${detail}</failure></testcase>\n`
}

/** Text for XML 1.0, which has no control characters, lone surrogates, U+FFFE and U+FFFF. */
function xmlText(text: string): string {
  return printable(text.toWellFormed())
    .replace(/[\ufffe\uffff]/g, '\ufffd')
    .replace(/[&<>"]/g, (char) => ENTITIES[char]!)
}
