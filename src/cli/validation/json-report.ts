import type { ReportWriter } from './report-writer.ts'
import { createTemporaryFile } from './temporary-file.ts'

/** The report of `POST /runs/validate` as JSON, an item a line. Refused items wait in a temporary file for their list. */
export function createJsonReport(print: (text: string) => void): ReportWriter {
  const refused = createTemporaryFile()
  let runs = 0
  let rejected = 0
  return {
    run(run) {
      print(`${runs++ === 0 ? '{"runs":[\n' : ','}${JSON.stringify(run)}`)
    },
    rejected(item) {
      refused.append(Buffer.from(`${rejected++ === 0 ? '' : ','}${JSON.stringify(item)}\n`))
    },
    end(valid, summary) {
      print(`${runs === 0 ? '{"runs":[' : ''}],"rejected":[`)
      for (const text of refused.texts()) print(text)
      refused.close()
      print(`],"summary":${JSON.stringify(summary)},"valid":${valid}}`)
    },
  }
}
