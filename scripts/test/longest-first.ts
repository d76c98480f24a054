import type { TestSpecification } from 'vitest/node'
import { BaseSequencer } from 'vitest/node'
import { lengthOf, readTimes, secondsOf } from './times.ts'

/**
 * Starts the files that take longest first, so that no worker is left with a long one at the end. Files that share
 * processes come after the others: a worker ends its process when the next file may not share it.
 */
export class LongestFirst extends BaseSequencer {
  readonly #times = readTimes()

  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const seconds = ({ project, moduleId }: TestSpecification): number =>
      secondsOf(this.#times, lengthOf(project.name), moduleId.slice(this.ctx.config.root.length + 1))
    const shares = ({ project }: TestSpecification): number => (project.config.isolate ? 0 : 1)
    return files.toSorted((a, b) => shares(a) - shares(b) || seconds(b) - seconds(a))
  }
}
