import { createHumanReport } from './human-report.ts'
import { FIXES, failedChecks, type ReportWriter } from './report-writer.ts'

/** Maximum number of annotations. GitHub shows ten errors and ten warnings of a step. */
const MAX_ANNOTATIONS = 50

interface Annotation {
  level: 'error' | 'warning'
  title: string
  message: string
  fix: string
  runs: number
  /** One of them. */
  example: string | null
}

/** The report as annotations of a GitHub workflow, equal faults of several runs as one, and the summary below them. */
export function createGithubReport(print: (text: string) => void): ReportWriter {
  const annotations = new Map<string, Annotation>()
  let left_out = 0
  const note = (annotation: Omit<Annotation, 'runs'>): void => {
    const key = JSON.stringify([annotation.level, annotation.title, annotation.message])
    const known = annotations.get(key)
    if (known !== undefined) known.runs++
    else if (annotations.size < MAX_ANNOTATIONS) annotations.set(key, { ...annotation, runs: 1 })
    else left_out++
  }
  return {
    run(run) {
      const example = run.run_id
      for (const { name, reason } of failedChecks(run))
        note({ level: 'error', title: `${name}: ${run.name}`, message: reason, fix: FIXES[name], example })
      for (const { severity, code, path, message, fix = '' } of run.issues) {
        if (severity === 'info') continue
        const title = `${code}${path === '' ? '' : ` at ${path}`}`
        note({ level: 'warning', title, message, fix, example })
      }
    },
    rejected({ run_id, code, field, reason }) {
      const title = `rejected: ${code}${field === null ? '' : ` at ${field}`}`
      note({ level: 'error', title, message: reason, fix: '', example: run_id })
    },
    end(valid, summary) {
      for (const annotation of annotations.values()) print(commandOf(annotation))
      if (left_out > 0) print(`::warning title=weir validate::${left_out} further faults have no annotation.`)
      createHumanReport(print, { colors: false, quiet: true }).end(valid, summary)
    },
  }
}

/** A command of GitHub's runner, as a line of output. */
function commandOf({ level, title, message, fix, runs, example }: Annotation): string {
  const who = example === null ? '' : runs === 1 ? ` (run ${example})` : ` (${runs} runs, such as ${example})`
  const text = [`${message}${who}`, ...(fix === '' ? [] : [`Fix: ${fix}`])].join('\n')
  return `::${level} title=${escapeProperty(title)}::${escapeData(text)}`
}

function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
}
